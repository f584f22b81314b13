import DirectCodecs
import Foundation
import Vips

/// Reads WebP files with libwebp directly; those with a colour profile other than sRGB, and the judgement
/// of damaged ones, are left to libvips.
///
/// libvips has every frame as a picture of its own, opaque ones with an opacity that is taken off again.
struct WebPDecoder: AnimatedImageDecoder {
    private let other = VipsDecoder()

    func canDecode(_ format: ImageFormat) -> Bool { format == .WebP }

    func header(of data: Data, format: ImageFormat) throws -> ImageHeader {
        let file = data.withUnsafeBytes { file($0) }
        guard let file else { return try other.header(of: data, format: format) }
        var header = ImageHeader(
            format: .WebP, size: PixelSize(width: file.width, height: file.height),
            hasAlpha: file.hasAlpha)
        if file.isAnimated {
            header.frameCount = file.durations.count
            header.timing = AnimationTiming(
                durations: file.durations.map { AnimationTiming.clamped(TimeInterval($0) / 1000) },
                loopCount: file.loopCount)
        }
        return header
    }

    func decode(_ data: Data, header: ImageHeader, frame: Int, leastSize: PixelSize?) throws
        -> DecodedPixels
    {
        if header.timing != nil {
            var reader = try WebPFrameReader(data, header: header)
            return .bitmap(try reader.frame(frame))
        }
        guard let bitmap = bitmap(data, leastSize) else {
            return try other.decode(data, header: header, frame: frame, leastSize: leastSize)
        }
        return .bitmap(bitmap)
    }

    func decodeAllFrames(_ data: Data, header: ImageHeader) throws -> [Bitmap] {
        if header.timing != nil {
            var reader = try WebPFrameReader(data, header: header)
            return try (0..<header.frameCount).map { try reader.frame($0) }
        }
        guard let bitmap = bitmap(data, nil) else {
            return try other.decodeAllFrames(data, header: header)
        }
        return [bitmap]
    }

    func frameReader(_ data: Data, header: ImageHeader) throws -> any FrameReader {
        try WebPFrameReader(data, header: header)
    }

    /// The file if it is of a kind that is read here.
    private func file(_ bytes: UnsafeRawBufferPointer) -> WebPFile? {
        // Why it is not does not matter: libvips reads it, or tells what is wrong.
        guard let file = try? WebPFile(bytes), file.exif == nil,
            file.profile.map({ ICCProfile(Data($0))?.isSRGB == true }) ?? true
        else { return nil }
        return file
    }

    private func bitmap(_ data: Data, _ leastSize: PixelSize?) -> Bitmap? {
        data.withUnsafeBytes { bytes in
            guard let file = file(bytes) else { return nil }
            // As above.
            return try? decoded(file, bytes, leastSize)
        }
    }

    private func decoded(
        _ file: WebPFile, _ bytes: UnsafeRawBufferPointer, _ leastSize: PixelSize?
    ) throws(WebPRefusal) -> Bitmap {
        let full = PixelSize(width: file.width, height: file.height)
        let reader = WebPReader(file, bytes)
        guard let size = leastSize, size.isReduction(of: full) else {
            return try Bitmap(size: full, channels: file.channels) { pixels throws(WebPRefusal) in
                try reader.read(into: pixels, width: full.width, height: full.height)
            }
        }
        return try Bitmap(size: size, channels: file.channels) { pixels throws(WebPRefusal) in
            try reader.readReduced(into: pixels, width: size.width, height: size.height)
        }
    }
}
