import Foundation

/// The encoders, asked in this order. A new encoder is one new file and one line here.
enum ImageEncoders {
    static let all: [any ImageEncoder] = [
        JPEGEncoder(),
        PNGEncoder(),
        WebPEncoder(),
        VipsEncoder(),
    ]

    /// The first encoder that writes `format`.
    static func encoder(for format: ImageFormat) throws(ImageCodingError) -> any ImageEncoder {
        for encoder in all where encoder.canEncode(format) {
            return encoder
        }
        throw .unsupported(format, reason: "no encoder for it is installed")
    }
}
