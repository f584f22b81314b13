import Foundation
import Vips

/// Reads one or more formats. All calls block and belong on the decoding pool.
protocol ImageDecoder: Sendable {
    /// Whether this decoder reads `format` on this machine.
    func canDecode(_ format: ImageFormat) -> Bool

    /// Whether this decoder reads this very file, judged by its header. One that reads only the usual kinds
    /// of a format leaves the others to those behind it.
    func canDecode(_ data: Data, format: ImageFormat) -> Bool

    /// Reads size, frames and timing, without decoding pixels.
    func header(of data: Data, format: ImageFormat) throws -> ImageHeader

    /// Decodes one frame: oriented, in sRGB, 8 or 16 bits, 3 or 4 channels, straight alpha.
    ///
    /// With `leastSize` the decoder may deliver any size from that up to the full one, at about the
    /// same aspect ratio; without it the full size.
    func decode(_ data: Data, header: ImageHeader, frame: Int, leastSize: PixelSize?) throws
        -> DecodedPixels

    /// Decodes one frame, like the other method, at exactly the size of `reduction`, which may be the full
    /// one; `nil` when this decoder has no better way than to decode and to resample the result.
    func decode(_ data: Data, header: ImageHeader, frame: Int, reduction: Reduction) throws
        -> DecodedPixels?

    /// Decodes all frames of an animated file, each at the full size.
    func decodeAllFrames(_ data: Data, header: ImageHeader) throws -> [Bitmap]
}

extension ImageDecoder {
    func canDecode(_ data: Data, format: ImageFormat) -> Bool { canDecode(format) }

    func decode(_ data: Data, header: ImageHeader, frame: Int, reduction: Reduction) throws
        -> DecodedPixels?
    { nil }
}

/// What a decoder hands on.
enum DecodedPixels: Sendable {
    /// Pixels in memory.
    case bitmap(Bitmap)
    /// A libvips pipeline that decodes as it is read, from top to bottom, once.
    case pipeline(VipsImage)
}
