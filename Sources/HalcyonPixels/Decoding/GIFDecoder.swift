import DirectCodecs
import Foundation
import Vips

/// Reads GIF files with a decoder of our own, and unusual ones with libvips.
///
/// It sees damage while it decodes, so that a frame's pixels are decoded once, and faster than libvips
/// does it.
struct GIFDecoder: AnimatedImageDecoder {
    private let other = VipsDecoder()

    func canDecode(_ format: ImageFormat) -> Bool {
        format == .GIF && DirectCoding.formats.contains(.GIF) && other.canDecode(.GIF)
    }

    func header(of data: Data, format: ImageFormat) throws -> ImageHeader {
        let structure = GIFStructure(data)
        guard structure.isComplete, isUsual(data, structure) else {
            return try other.header(of: data, format: format)
        }
        try structure.checkFrameCount()
        var header = ImageHeader(
            format: .GIF, size: structure.canvas, hasAlpha: structure.hasAlpha)
        if structure.frames.count > 1 {
            header.frameCount = structure.frames.count
            header.timing = AnimationTiming(
                durations: structure.frames.map {
                    AnimationTiming.clamped(TimeInterval($0.delay) / 100)
                }, loopCount: structure.loopCount)
        }
        return header
    }

    func decode(_ data: Data, header: ImageHeader, frame: Int, leastSize: PixelSize?) throws
        -> DecodedPixels
    {
        guard var reader = reader(data, header) else {
            return try other.decode(data, header: header, frame: frame, leastSize: leastSize)
        }
        return .bitmap(try reader.frame(frame))
    }

    func decodeAllFrames(_ data: Data, header: ImageHeader) throws -> [Bitmap] {
        guard var reader = reader(data, header) else {
            return try other.decodeAllFrames(data, header: header)
        }
        return try (0..<header.frameCount).map { try reader.frame($0) }
    }

    func frameReader(_ data: Data, header: ImageHeader) throws -> any FrameReader {
        try reader(data, header) ?? other.frameReader(data, header: header)
    }

    private func isUsual(_ data: Data, _ structure: GIFStructure) -> Bool {
        data.withUnsafeBytes { bytes in
            let file = try? GIFFile(
                bytes, width: structure.canvas.width, height: structure.canvas.height,
                frameCount: structure.frames.count)
            return file != nil
        }
    }

    private func reader(_ data: Data, _ header: ImageHeader) -> GIFFrameReader? {
        // Why a file is not read here does not matter: libvips reads it, or tells what is wrong.
        try? GIFFrameReader(data, header: header)
    }
}
