import DirectCodecs
import Foundation
import Vips

/// Writes JPEG files with libjpeg-turbo: the same files as libvips writes, in less time and on one thread.
/// EXIF data that tells of the pixels is left to libvips, which brings it up to date.
enum JPEGEncoder {
    static func encode(_ frames: [Bitmap], options: ImageEncodingOptions) throws -> Data? {
        guard options.metadata?.exif.map(EXIFBlock.isPlain) ?? true, let first = frames.first else {
            return nil
        }
        try VipsSaver(.JPEG)?.checkSize(first.size)
        let metadata = JPEGMetadata(
            exif: (options.metadata?.exif).map(EXIFBlock.upright), xmp: options.metadata?.xmp,
            iptc: options.metadata?.iptc, profile: options.profile)
        guard let segments = metadata.segments else { return nil }
        do {
            return try first.withEightBits { pixels in
                try JPEGWriter.write(
                    pixels, width: first.size.width, height: first.size.height,
                    channels: first.channels,
                    options: JPEGWriter.Options(
                        quality: VipsSaver.level(options.quality),
                        isProgressive: options.isProgressive),
                    segments: segments)
            }
        } catch let refusal as CodecRefusal {
            throw ImageCodingError.encodingFailed(.JPEG, reason: refusal.description)
        }
    }
}

/// Writes PNG files of 8 bits with libdeflate, in a fraction of the time that zlib takes for the same
/// size, animations too, with 8 bits; metadata and 16 bits of still pictures are left to libvips. Opaque
/// pixels are written without opacity.
enum PNGEncoder {
    static func encode(
        _ frames: [Bitmap], timing: AnimationTiming?, options: ImageEncodingOptions
    ) throws -> Data? {
        if let timing, frames.count > 1 {
            return try animation(frames, timing: timing, options: options)
        }
        guard let bitmap = frames.first, bitmap.depth == .eight, options.profile == nil,
            options.metadata?.fields(for: .PNG).isEmpty ?? true
        else { return nil }
        let file = bitmap.withEightBits { pixels in
            PNGWriter.file(
                of: pixels, width: bitmap.size.width, height: bitmap.size.height,
                channels: bitmap.channels)
        }
        return file.map { Data($0) }
    }

    private static func animation(
        _ frames: [Bitmap], timing: AnimationTiming, options: ImageEncodingOptions
    ) throws -> Data {
        let size = frames[0].size
        guard timing.durations.count == frames.count, frames.allSatisfy({ $0.size == size }) else {
            throw ImageCodingError.encodingFailed(
                .PNG, reason: "the frames are not of one size, or have no durations")
        }
        let isOpaque = try frames.allSatisfy { try $0.isOpaque() }
        let started = APNGWriter(
            width: size.width, height: size.height, channels: isOpaque ? 3 : 4,
            frameCount: frames.count, loopCount: timing.loopCount,
            profile: options.profile.map { Array($0) },
            exif: (options.metadata?.exif).map { Array(EXIFBlock.bare(EXIFBlock.upright($0))) },
            xmp: (options.metadata?.xmp).map { Array($0) })
        guard var writer = started else {
            throw ImageCodingError.encodingFailed(
                .PNG, reason: "a frame has more pixels than can be written at once")
        }
        var previous: Bitmap?
        for (frame, seconds) in zip(frames, timing.durations) {
            let frame = try frame.stored(alpha: !isOpaque)
            let isWritten = frame.withEightBits { pixels -> Bool in
                guard let last = previous else {
                    return writer.append(pixels, after: nil, seconds: seconds)
                }
                return last.withEightBits { writer.append(pixels, after: $0, seconds: seconds) }
            }
            guard isWritten else {
                throw ImageCodingError.encodingFailed(
                    .PNG, reason: "there is no memory for its frames")
            }
            previous = frame
        }
        return Data(writer.finished())
    }
}

extension Bitmap {
    /// The pixels with 8 bits a sample, and with or without an opacity.
    fileprivate func stored(alpha: Bool) throws -> Bitmap {
        guard depth == .sixteen || hasAlpha != alpha else { return self }
        var image = try vipsImage().withEightBits()
        image = alpha ? try image.addingAlpha() : try image.alphaSplit().colour
        return try Bitmap(rendering: image)
    }
}

/// Writes still WebP files with libwebp directly, which needs no second pass to take out the metadata
/// that libvips adds. Animations, and files with metadata, are left to libvips.
enum WebPEncoder {
    static func encode(
        _ frames: [Bitmap], timing: AnimationTiming?, options: ImageEncodingOptions
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
        } catch let refusal as CodecRefusal {
            throw ImageCodingError.encodingFailed(.WebP, reason: refusal.description)
        }
    }
}

extension WebPWriter {
    /// Writes the pixels of a bitmap of 8 bits.
    ///
    /// - Throws: `CodecRefusal`.
    func file(of bitmap: Bitmap) throws -> Data {
        try bitmap.withEightBits { pixels in
            Data(
                try file(
                    of: pixels, width: bitmap.size.width, height: bitmap.size.height,
                    channels: bitmap.channels))
        }
    }
}
