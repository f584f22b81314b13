import CCodecs
public import Foundation

/// Writes JPEG files with libjpeg-turbo.
public enum JPEGWriter {
    /// The options for writing a file.
    public struct Options: Sendable {
        /// 1 (smallest) … 100 (best).
        public var quality: Int
        /// Whether chroma is stored with half the width and height; by default below quality 90.
        public var halvesChroma: Bool
        /// Whether the file shows itself from coarse to fine while it arrives. Off by default: it takes
        /// several times as long.
        public var isProgressive: Bool

        public init(quality: Int, halvesChroma: Bool? = nil, isProgressive: Bool = false) {
            self.quality = min(max(quality, 1), 100)
            self.halvesChroma = halvesChroma ?? (quality < 90)
            self.isProgressive = isProgressive
        }
    }

    /// The file of pixels with 3 channels (RGB), or 4 (RGBA with straight alpha), which are put on white
    /// paper.
    ///
    /// - Parameters:
    ///   - pixels: Rows without padding.
    ///   - segments: Metadata as it stands in the file (``JPEGMetadata``).
    /// - Throws: `CodecRefusal`.
    public static func write(
        _ pixels: UnsafePointer<UInt8>, width: Int, height: Int, channels: Int, options: Options,
        segments: Data = Data()
    ) throws(CodecRefusal) -> Data {
        guard channels == 3 else {
            let flat = UnsafeMutablePointer<UInt8>.allocate(capacity: width * height * 3)
            defer { flat.deallocate() }
            cpixels_flatten(pixels, width * height, flat)
            return try write(
                flat, width: width, height: height, channels: 3, options: options,
                segments: segments)
        }
        let written = cjpeg_write(
            pixels,
            cjpeg_writing(
                width: width, height: height, bytes_per_row: width * 3,
                quality: Int32(options.quality), halves_chroma: options.halvesChroma,
                is_progressive: options.isProgressive))
        guard let bytes = written.bytes else {
            let message = withUnsafeBytes(of: written.message) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            throw .damaged(message)
        }
        let file = Data(bytesNoCopy: bytes, count: written.count, deallocator: .free)
        guard !segments.isEmpty else { return file }
        // libjpeg begins each file with the two bytes of all JPEG files and the segment of JFIF.
        let start = 20
        return file[..<start] + segments + file[start...]
    }
}
