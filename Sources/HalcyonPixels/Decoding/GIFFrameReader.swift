import DirectCodecs
import Foundation

/// Reads GIF frames with a decoder of our own.
struct GIFFrameReader: FrameReader {
    private(set) var position = 0

    private let data: Data
    private let header: ImageHeader
    private let canvas: GIFCanvas

    /// - Throws: `GIFRefusal` for files that another reader has to read.
    init(_ data: Data, header: ImageHeader) throws {
        self.data = data
        self.header = header
        canvas = try data.withUnsafeBytes { bytes in
            let file = try GIFFile(
                bytes, width: header.size.width, height: header.size.height,
                frameCount: header.frameCount)
            return GIFCanvas(file, bytes)
        }
    }

    mutating func frame(_ index: Int) throws -> Bitmap {
        defer { position = index + 1 }
        do {
            return try data.withUnsafeBytes { bytes in
                for _ in position..<index { try canvas.skip(bytes) }
                let channels = header.hasAlpha ? 4 : 3
                return try Bitmap(size: header.size, channels: channels) {
                    pixels throws(GIFRefusal) in
                    try canvas.next(bytes, into: pixels, channels: channels)
                }
            }
        } catch let error as GIFRefusal {
            throw ImageCodingError.corrupt(.GIF, reason: error.description)
        }
    }
}
