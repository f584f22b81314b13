import DirectCodecs
import Foundation
import Vips

/// Reads WebP files with libwebp directly. Pictures whose colours have to be converted, and the judgement
/// of damaged files, are left to libvips.
///
/// libvips has every frame as a picture of its own, opaque ones with an opacity that is taken off again.
struct WebPDecoder: AnimatedImageDecoder {
    func canDecode(_ format: ImageFormat) -> Bool {
        format == .WebP && DirectCoding.formats.contains(.WebP)
    }

    func canDecode(_ data: Data, format: ImageFormat) -> Bool {
        canDecode(format) && data.withUnsafeBytes { (try? OrdinaryWebP($0)) != nil }
    }

    func header(of data: Data, format: ImageFormat) throws -> ImageHeader {
        do {
            let webp = try data.withUnsafeBytes { bytes in
                try OrdinaryWebP(bytes)
            }
            return webp.header
        } catch {
            throw ImageCodingError.unsupported(.WebP, reason: "it is of an unusual kind")
        }
    }

    func decode(_ data: Data, header: ImageHeader, frame: Int, leastSize: PixelSize?) throws
        -> DecodedPixels
    {
        if header.timing != nil {
            var reader = try WebPFrameReader(data, header: header)
            return .bitmap(try reader.frame(frame))
        }
        guard let bitmap = bitmap(data, header.size) else {
            return try VipsDecoder().decode(
                data, header: header, frame: frame, leastSize: leastSize)
        }
        return .bitmap(bitmap)
    }

    func decode(_ data: Data, header: ImageHeader, frame: Int, reduction: Reduction) throws
        -> DecodedPixels?
    {
        guard header.timing == nil else { return nil }
        return bitmap(data, reduction.size, reduction.quality).map { .bitmap($0) }
    }

    func decodeAllFrames(_ data: Data, header: ImageHeader) throws -> [Bitmap] {
        if header.timing != nil {
            var reader = try WebPFrameReader(data, header: header)
            return try (0..<header.frameCount).map { try reader.frame($0) }
        }
        guard let bitmap = bitmap(data, header.size) else {
            return try VipsDecoder().decodeAllFrames(data, header: header)
        }
        return [bitmap]
    }

    func frameReader(_ data: Data, header: ImageHeader) throws -> any FrameReader {
        try WebPFrameReader(data, header: header)
    }

    private func bitmap(
        _ data: Data, _ size: PixelSize, _ quality: DownsamplingQuality = .best
    ) -> Bitmap? {
        data.withUnsafeBytes { bytes in
            // Why it cannot be read does not matter: libvips reads it, or tells what is wrong.
            guard let webp = try? OrdinaryWebP(bytes) else { return nil }
            return try? webp.bitmap(size: size, quality)
        }
    }
}

/// A WebP file whose pixels are all that there is to obey.
private struct OrdinaryWebP {
    private let file: WebPFile
    private let orientation: Int
    private let bytes: UnsafeRawBufferPointer

    init(_ bytes: UnsafeRawBufferPointer) throws(WebPRefusal) {
        self.bytes = bytes
        file = try WebPFile(bytes)
        guard let orientation = EXIFBlock.orientation(ofBlock: file.exif) else {
            throw .unusual("its EXIF data")
        }
        self.orientation = orientation
        guard ICCProfile.isNeutral(file.profile, channels: 3) else {
            throw .unusual("its colours")
        }
    }

    var header: ImageHeader {
        let stored = PixelSize(width: file.width, height: file.height)
        var header = ImageHeader(
            format: .WebP, size: stored.turned(by: orientation), hasAlpha: file.hasAlpha)
        if file.isAnimated {
            header.frameCount = file.durations.count
            header.timing = AnimationTiming(
                durations: file.durations.map {
                    AnimationTiming.clamped(TimeInterval($0) / 1000)
                }, loopCount: file.loopCount)
        }
        return header
    }

    func bitmap(
        size: PixelSize, _ quality: DownsamplingQuality
    ) throws(WebPRefusal) -> Bitmap {
        let reader = WebPReader(file, bytes)
        return try Bitmap(size: size, channels: file.channels, orientation: orientation) {
            stored, pixels throws(WebPRefusal) in
            try reader.read(
                into: pixels, width: stored.width, height: stored.height,
                quality: quality == .best ? .best : .fast)
        }
    }
}
