import Foundation
import HalcyonTestKit

/// A block of EXIF data that a camera might have written.
enum CameraFixture {
    /// Big-endian: maker, model and a directory with the time, the exposure and the sensitivity; the
    /// owner's name and a serial number are in it too.
    ///
    /// - Parameter offset: The difference of the camera's clock from UTC.
    static func block(offset: String? = nil) -> Data {
        var values: [UInt8] = []
        let start = 8 + 2 + 3 * 12 + 4
        let count = offset == nil ? 5 : 6
        let details = start + 2 + count * 12 + 4
        func place(_ bytes: [UInt8]) -> [UInt8] {
            defer { values += bytes }
            return bigEndian(details + values.count, 4)
        }
        let first =
            entry(0x010F, 2, 8, place(text("Halcyon")))
            + entry(0x0110, 2, 13, place(text("Kingfisher 1")))
            + entry(0x8769, 4, 1, bigEndian(start, 4))
        var second =
            entry(0x829A, 5, 1, place(bigEndian(1, 4) + bigEndian(125, 4)))
            + entry(0x8827, 3, 1, bigEndian(200, 2) + [0, 0])
            + entry(0x9003, 2, 20, place(text("2024:05:01 18:30:00")))
        if let offset { second += entry(0x9011, 2, 7, place(text(offset))) }
        for tag in [0xA430, 0xA431] { second += entry(tag, 2, 7, place(text("secret"))) }
        let header = Array("Exif".utf8) + [0, 0, 0x4D, 0x4D, 0, 42, 0, 0, 0, 8]
        let directories = bigEndian(3, 2) + first + bigEndian(0, 4) + bigEndian(count, 2) + second
        return Data(header + directories + bigEndian(0, 4) + values)
    }

    private static func text(_ text: String) -> [UInt8] { Array(text.utf8) + [0] }

    private static func entry(_ tag: Int, _ type: Int, _ count: Int, _ value: [UInt8]) -> [UInt8] {
        bigEndian(tag, 2) + bigEndian(type, 2) + bigEndian(count, 4) + value
    }
}
