import DirectCodecs
import Foundation

/// Writes JPEG files with libjpeg-turbo: the same files as libvips writes, in less time. Metadata is left
/// to libvips.
struct JPEGEncoder: ImageEncoder {
    func canEncode(_ format: ImageFormat) -> Bool {
        format == .JPEG
    }

    func encode(
        _ frames: [Bitmap], timing: AnimationTiming?, as format: ImageFormat,
        options: ImageEncodingOptions
    ) throws -> Data? {
        guard options.metadata == nil, let first = frames.first else { return nil }
        try VipsSaver(.JPEG)?.checkSize(first.size)
        do {
            return try first.withEightBits { pixels in
                try JPEGWriter.write(
                    pixels, width: first.size.width, height: first.size.height,
                    channels: first.channels,
                    options: JPEGWriter.Options(quality: VipsSaver.level(options.quality)))
            }
        } catch DirectCodecError.encodingFailed(let reason) {
            throw ImageCodingError.encodingFailed(.JPEG, reason: reason)
        }
    }
}
