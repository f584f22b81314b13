import DirectCodecs
import Foundation

/// Writes still WebP files with libwebp directly, which needs no second pass to take out the metadata
/// that libvips adds. Animations, and files with metadata, are left to libvips.
struct WebPEncoder: ImageEncoder {
    func canEncode(_ format: ImageFormat) -> Bool {
        format == .WebP
    }

    func encode(
        _ frames: [Bitmap], timing: AnimationTiming?, as format: ImageFormat,
        options: ImageEncodingOptions
    ) -> Data? {
        // Whatever else is asked for, now or later, is not known here.
        var plain = ImageEncodingOptions(quality: options.quality, metadata: options.metadata)
        plain.coding = options.coding
        guard options == plain, options.metadata?.fields(for: .WebP).isEmpty ?? true,
            let bitmap = frames.first, bitmap.depth == .eight, timing == nil || frames.count == 1
        else { return nil }
        // What cannot be written here, libvips refuses with a reason.
        return try? WebPWriter(.lossy(level: VipsSaver.level(options.quality))).file(of: bitmap)
    }
}

/// Writes still images as lossless WebP with libwebp itself: libvips does not pass on `exact`, without
/// which the colours below wholly transparent pixels are lost.
enum LosslessWebP {
    /// - Throws: `ImageCodingError`; for a bitmap of 16 bits, which WebP cannot hold.
    static func encode(_ bitmap: Bitmap) throws -> Data {
        guard bitmap.depth == .eight else {
            throw ImageCodingError.encodingFailed(.WebP, reason: "it holds no more than 8 bits")
        }
        do {
            return try WebPWriter(.lossless).file(of: bitmap)
        } catch let refusal as WebPRefusal {
            throw ImageCodingError.encodingFailed(.WebP, reason: refusal.description)
        }
    }
}

extension WebPWriter {
    /// Writes the pixels of a bitmap of 8 bits.
    ///
    /// - Throws: `WebPRefusal`.
    func file(of bitmap: Bitmap) throws -> Data {
        try bitmap.withEightBits { pixels in
            Data(
                try file(
                    of: pixels, width: bitmap.size.width, height: bitmap.size.height,
                    channels: bitmap.channels))
        }
    }
}
