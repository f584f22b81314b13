import DirectCodecs
import Foundation
import Vips

/// Writes PNG, JPEG, GIF, WebP, AVIF, HEIC, JPEG XL and TIFF with libvips.
///
/// Nothing but pixels is written unless the options carry metadata: what an image was decoded from is
/// not known here any more.
enum VipsEncoder {
    static func canEncode(_ format: ImageFormat) -> Bool {
        guard let saver = VipsSaver(format), Vips.supports(operation: saver.nickname) else {
            return false
        }
        return switch format {
        case .AVIF: writesAVIF
        case .HEIC: writesHEIC
        default: true
        }
    }

    static func encode(
        _ frames: [Bitmap], timing: AnimationTiming?, as format: ImageFormat,
        options: ImageEncodingOptions
    ) throws -> Data {
        guard canEncode(format), let saver = VipsSaver(format) else {
            throw ImageCodingError.unsupported(format, reason: "no encoder for it is installed")
        }
        return try encode(frames, timing: timing, with: saver, options: options)
    }

    /// The saver of HEIF files is there whatever codecs libheif has: only trying tells.
    private static let writesAVIF = canWrite(.AVIF)
    private static let writesHEIC = canWrite(.HEIC)

    private static func canWrite(_ format: ImageFormat) -> Bool {
        let size = PixelSize(width: 64, height: 64)
        let pixels = Data(repeating: 0x80, count: size.pixelCount * 3)
        guard let saver = VipsSaver(format),
            let probe = Bitmap(pixels: pixels, size: size, channels: 3)
        else { return false }
        // The answer is all that is asked for; there is nobody to tell the reason.
        return (try? encode([probe], timing: nil, with: saver, options: ImageEncodingOptions()))
            != nil
    }

    private static func encode(
        _ frames: [Bitmap], timing: AnimationTiming?, with saver: VipsSaver,
        options: ImageEncodingOptions
    ) throws -> Data {
        guard let first = frames.first else {
            throw ImageCodingError.encodingFailed(saver.format, reason: "there is no frame")
        }
        try saver.checkSize(first.size)
        let isAnimation = saver.writesAnimations && timing != nil && frames.count > 1
        if saver.format == .WebP, options.isLossless, options.metadata == nil,
            options.profile == nil,
            !isAnimation, first.depth == .eight
        {
            return try LosslessWebP.encode(first)
        }
        do {
            var image: VipsImage
            if let timing, isAnimation {
                image = try strip(of: frames, timing: timing, for: saver)
            } else {
                image = try saver.prepared(
                    options.storesGrey ? first.greyVipsImage() : first.vipsImage())
            }
            var metadata = options.metadata?.fields(for: saver.format) ?? []
            if let profile = options.profile, ImageMetadata.profileFormats.contains(saver.format) {
                metadata.append(("icc-profile-data", .blob(profile)))
            }
            if !metadata.isEmpty { image = try image.settingMetadata(metadata) }
            var data = try image.encoded(
                saver.nickname,
                saver.arguments(options, depth: first.depth, keepsMetadata: !metadata.isEmpty))
            if saver.format == .GIF, isAnimation, let timing {
                data = GIFDelays.setting(timing.durations.map(milliseconds), in: data)
            }
            if saver.format == .WebP, isAnimation, image.hasAlpha {
                data = WebPContainer.markingAlpha(in: data)
            }
            guard saver.format == .WebP, options.metadata?.exif == nil else { return data }
            return WebPContainer.removingEXIF(from: data)
        } catch let error as VipsError {
            throw ImageCodingError.encodingFailed(saver.format, reason: error.plainWords)
        }
    }

    /// All frames one below the other, with the fields that make them an animation.
    private static func strip(
        of frames: [Bitmap], timing: AnimationTiming, for saver: VipsSaver
    ) throws -> VipsImage {
        guard timing.durations.count == frames.count,
            frames.allSatisfy({ $0.size == frames[0].size })
        else {
            throw ImageCodingError.encodingFailed(
                saver.format, reason: "the frames are not of one size, or have no durations")
        }
        let hasAlpha = frames.contains(where: \.hasAlpha)
        let images = try frames.map { frame in
            let image = try saver.prepared(frame.vipsImage())
            return hasAlpha ? try image.addingAlpha() : image
        }
        let strip = try VipsImage.create(
            "arrayjoin", ["in": .images(images), "across": 1])
        return try strip.settingMetadata([
            ("page-height", .int(frames[0].size.height)),
            (
                "delay",
                .ints(
                    timing.durations.map {
                        saver.format == .GIF ? GIFDelays.longest : milliseconds($0)
                    })
            ),
            ("loop", .int(timing.loopCount)),
        ])
    }

    /// A duration as it is stored. Formats hold 16 (GIF) to 24 bits (WebP); a frame that is shown for
    /// ever gets the longest time both have.
    private static func milliseconds(_ duration: TimeInterval) -> Int {
        let longest = Double(GIFDelays.longest)
        return Int(min(max(0, duration.isNaN ? 0 : duration * 1000), longest).rounded())
    }
}

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
        return data.withUnsafeBytes { bytes in
            var output = Data(bytes.prefix(12))
            for chunk in WebPChunks(bytes, 12..<bytes.count) {
                guard chunk.whole.upperBound <= bytes.count else { return data }
                if chunk.name == "EXIF" { continue }
                let start = output.count
                output.append(contentsOf: bytes[chunk.whole])
                if chunk.name == "VP8X", chunk.content.count >= 10 {
                    output[start + 8] &= ~exifFlag
                }
            }
            output.setRIFFLength()
            return output
        }
    }
}
