import Foundation

/// The decoders, asked in this order. A new decoder is one new file and one line here.
enum ImageDecoders {
    static let all: [any ImageDecoder] = [
        JPEGDecoder(),
        PNGDecoder(),
        WebPDecoder(),
        GIFDecoder(),
        AVIFDecoder(),
        JPEGXLDecoder(),
        VipsDecoder(),
        BMPDecoder(),
        ICODecoder(),
    ]

    /// The first decoder that reads `data`, a file of `format`.
    static func decoder(
        for format: ImageFormat, reading data: Data
    ) throws(ImageCodingError) -> any ImageDecoder {
        for decoder in all where decoder.canDecode(data, format: format) {
            return decoder
        }
        throw .unsupported(format, reason: "no decoder for it is installed")
    }

    /// The first decoder that reads `format`.
    static func decoder(for format: ImageFormat) throws(ImageCodingError) -> any ImageDecoder {
        for decoder in all where decoder.canDecode(format) {
            return decoder
        }
        throw .unsupported(format, reason: "no decoder for it is installed")
    }
}
