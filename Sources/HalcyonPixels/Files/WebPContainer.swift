import Foundation

/// The chunks of a WebP file (its container is RIFF).
enum WebPContainer {
    private static let exifFlag: UInt8 = 0x08
    private static let alphaFlag: UInt8 = 0x10

    /// The file with the mark that a part of the canvas may be transparent.
    ///
    /// libwebp sets it only when a frame itself is partly transparent, not when the frames leave a part of
    /// the canvas free; readers take what is not marked as opaque. A file without the chunk that holds the
    /// mark comes back as it is.
    static func markingAlpha(in data: Data) -> Data {
        let chunk = data.startIndex + 12
        guard data.count >= 30, ImageSniffer.format(of: data) == .WebP,
            data[chunk..<chunk + 4].elementsEqual("VP8X".utf8)
        else { return data }
        var output = data
        output[chunk + 8] |= alphaFlag
        return output
    }

    /// The file without its `EXIF` chunk, which libvips adds to every file it writes, with made-up
    /// resolution tags where there were none. Data of another structure comes back as it is.
    static func removingEXIF(from data: Data) -> Data {
        guard data.count >= 12, ImageSniffer.format(of: data) == .WebP else { return data }
        var output = Data(data.prefix(12))
        var offset = 12
        let bytes = [UInt8](data)
        while offset + 8 <= bytes.count {
            let length = (0..<4).reduce(0) { $0 | Int(bytes[offset + 4 + $1]) << (8 * $1) }
            let end = offset + 8 + length + length % 2
            guard end <= bytes.count else { return data }
            let name = String(decoding: bytes[offset..<offset + 4], as: UTF8.self)
            if name == "VP8X", length >= 10 {
                var chunk = bytes[offset..<end]
                chunk[offset + 8] &= ~exifFlag
                output.append(contentsOf: chunk)
            } else if name != "EXIF" {
                output.append(contentsOf: bytes[offset..<end])
            }
            offset = end
        }
        let size = UInt32(output.count - 8)
        for index in 0..<4 {
            output[output.startIndex + 4 + index] = UInt8(truncatingIfNeeded: size >> (8 * index))
        }
        return output
    }
}
