import DirectCodecs
import Foundation

/// Writes still WebP files with libwebp directly, which needs no second pass to take out the metadata
/// that libvips adds. Animations, and files with metadata, are left to libvips.
struct WebPEncoder: ImageEncoder {
    private let other = VipsEncoder()

    func canEncode(_ format: ImageFormat) -> Bool {
        format == .WebP && DirectCoding.formats.contains(.WebP)
    }

    func encode(
        _ frames: [Bitmap], timing: AnimationTiming?, as format: ImageFormat,
        options: ImageEncodingOptions
    ) throws -> Data {
        // Whatever else is asked for, now or later, is not known here.
        let isPlain =
            options == ImageEncodingOptions(quality: options.quality, metadata: options.metadata)
        if let bitmap = frames.first, bitmap.depth == .eight, timing == nil || frames.count == 1,
            isPlain, options.metadata?.fields(for: .WebP).isEmpty ?? true
        {
            let writer = WebPWriter(.lossy(level: VipsSaver.level(options.quality)))
            // What cannot be written here, libvips refuses with a reason.
            if let file = try? writer.file(of: bitmap) { return file }
        }
        return try other.encode(frames, timing: timing, as: format, options: options)
    }
}
