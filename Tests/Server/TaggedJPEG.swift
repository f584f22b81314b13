import Foundation
import HalcyonPixels
import HalcyonTestKit

/// JPEG files with metadata, put together segment by segment.
enum TaggedJPEG {
    /// A picture of two halves of one colour each, side by side.
    static func data(
        left: Pixel = .red, right: Pixel = .blue, width: Int = 32, height: Int = 16,
        exif: Data? = nil, xmp: String? = nil, iptc: Data? = nil, profile: Data? = nil
    ) throws -> Data {
        let grid = PixelGrid(width: width, height: height) { x, _ in x < width / 2 ? left : right }
        let plain = try Image.decoding(PNGFixture.data(grid)).encoded(
            as: .JPEG, options: ImageEncodingOptions(quality: 1))
        var file = Data([0xFF, 0xD8])
        if let exif { file.append(segment(0xE1, Data("Exif\0\0".utf8) + exif)) }
        if let xmp { file.append(segment(0xE1, Data("http://ns.adobe.com/xap/1.0/\0\(xmp)".utf8))) }
        if let iptc { file.append(segment(0xED, iptc)) }
        if let profile {
            file.append(segment(0xE2, Data("ICC_PROFILE\0".utf8) + [1, 1] + profile))
        }
        return file + plain.dropFirst(2)
    }

    private static func segment(_ code: UInt8, _ content: Data) -> Data {
        let length = content.count + 2
        return Data([0xFF, code, UInt8(length >> 8), UInt8(length & 0xFF)]) + content
    }

    /// EXIF data with one directory: an orientation and texts.
    static func exif(orientation: Int? = nil, texts: [(tag: Int, text: String)] = []) -> Data {
        func bytes(_ number: Int, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        }
        var entries: [[UInt8]] = []
        var behind = Data()
        let count = texts.count + (orientation == nil ? 0 : 1)
        let start = 8 + 2 + 12 * count + 4
        for (tag, text) in texts {
            let content = Array(text.utf8) + [0]
            entries.append(
                bytes(tag, 2) + bytes(2, 2) + bytes(content.count, 4)
                    + bytes(start + behind.count, 4))
            behind.append(contentsOf: content + (content.count.isMultiple(of: 2) ? [] : [0]))
        }
        if let orientation {
            entries.append(bytes(0x0112, 2) + bytes(3, 2) + bytes(1, 4) + bytes(orientation, 4))
        }
        var data = Data("II*\0".utf8 + bytes(8, 4) + bytes(count, 2))
        for entry in entries.sorted(by: { ($0[1], $0[0]) < ($1[1], $1[0]) }) {
            data.append(contentsOf: entry)
        }
        return data + [0, 0, 0, 0] + behind
    }

    /// Data sets of IPTC in the image resources of Photoshop, as JPEG files have them.
    static func iptc(_ sets: [(record: UInt8, number: UInt8, text: String)]) -> Data {
        var content = Data()
        for set in sets {
            let text = Data(set.text.utf8)
            content += [0x1C, set.record, set.number, UInt8(text.count >> 8)]
            content += [UInt8(text.count & 0xFF)] + text
        }
        return Data("Photoshop 3.0\u{0}8BIM\u{4}\u{4}\u{0}\u{0}".utf8)
            + [0, 0, UInt8(content.count >> 8), UInt8(content.count & 0xFF)] + content
            + (content.count.isMultiple(of: 2) ? [] : [0])
    }
}
