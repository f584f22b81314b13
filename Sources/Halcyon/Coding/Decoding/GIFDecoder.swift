import DirectCodecs
import Foundation
import Vips

/// Reads the pixels of GIF files with a decoder of our own; headers, and unusual files, with libvips.
///
/// It sees damage while it decodes, so that a frame's pixels are decoded once, and faster than libvips
/// does it.
struct GIFDecoder: AnimatedImageDecoder {
    private let other = VipsDecoder()

    func canDecode(_ format: ImageFormat) -> Bool {
        format == .GIF && DirectCoding.formats.contains(.GIF) && other.canDecode(.GIF)
    }

    func header(of data: Data, format: ImageFormat) throws -> ImageHeader {
        try other.header(of: data, format: format)
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

    private func reader(_ data: Data, _ header: ImageHeader) -> GIFFrameReader? {
        // Why a file is not read here does not matter: libvips reads it, or tells what is wrong.
        try? GIFFrameReader(data, header: header)
    }
}
