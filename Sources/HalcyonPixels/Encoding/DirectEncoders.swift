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
        guard options.metadata == nil, options.profile == nil, !options.isProgressive,
            let first = frames.first
        else { return nil }
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

/// Writes PNG files of 8 bits with libdeflate, in a fraction of the time that zlib takes for the same
/// size; metadata and 16 bits are left to libvips. Opaque pixels are written without opacity.
struct PNGEncoder: ImageEncoder {
    func canEncode(_ format: ImageFormat) -> Bool {
        format == .PNG
    }

    func encode(
        _ frames: [Bitmap], timing: AnimationTiming?, as format: ImageFormat,
        options: ImageEncodingOptions
    ) -> Data? {
        guard let bitmap = frames.first, bitmap.depth == .eight, options.profile == nil,
            options.metadata?.fields(for: .PNG).isEmpty ?? true
        else { return nil }
        return PNGWriter().file(of: bitmap)
    }
}

extension PNGWriter {
    fileprivate func file(of bitmap: Bitmap) -> Data? {
        bitmap.withEightBits { pixels in
            file(
                of: pixels, width: bitmap.size.width, height: bitmap.size.height,
                channels: bitmap.channels)
        }
        .map { Data($0) }
    }
}

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
        plain.effort = options.effort
        plain.isProgressive = options.isProgressive
        guard options == plain, options.metadata?.fields(for: .WebP).isEmpty ?? true,
            let bitmap = frames.first, bitmap.depth == .eight, timing == nil || frames.count == 1
        else { return nil }
        // What cannot be written here, libvips refuses with a reason.
        return try? WebPWriter(
            .lossy(level: VipsSaver.level(options.quality)), effort: options.effort ?? 4
        ).file(of: bitmap)
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
