import DirectCodecs
import Foundation
import Vips

/// Reads ordinary JPEG files with libjpeg-turbo, straight to the pixels of the size that is wanted.
///
/// libvips reads them as well, but its pipeline costs 0.3 to 0.5 ms for each image before the first pixel,
/// and resamples without SIMD. What is unusual is left to it, such as CMYK and 12 bits.
///
/// Colours of another space than sRGB are converted last, when there are fewest pixels.
struct JPEGDecoder: ImageDecoder {
    /// Above this many pixels a chain of steps is better fed row by row than from a whole picture.
    static let mostPixelsForChains = 4_000_000

    /// Larger pictures are turned while they are decoded, so that they are not held twice.
    private static let mostPixelsToTurnWhole = 24_000_000

    func canDecode(_ format: ImageFormat) -> Bool {
        format == .JPEG && DirectCoding.formats.contains(.JPEG)
    }

    func canDecode(_ data: Data, format: ImageFormat) -> Bool {
        guard canDecode(format), let header = data.withUnsafeBytes(JPEGHeader.init) else {
            return false
        }
        guard header.isGrey else {
            return true
        }
        return ICCProfile.isNeutral(header.profile, channels: 1)
    }

    func header(of data: Data, format: ImageFormat) throws -> ImageHeader {
        let header = try parsed(data)
        return ImageHeader(format: .JPEG, size: header.shownSize, hasAlpha: false)
    }

    func decode(_ data: Data, header: ImageHeader, frame: Int, leastSize: PixelSize?) throws
        -> DecodedPixels
    {
        guard leastSize != nil || header.size.pixelCount <= Self.mostPixelsForChains else {
            return try VipsDecoder().decode(data, header: header, frame: frame, leastSize: nil)
        }
        let denominator =
            leastSize.map { least in
                [8, 4, 2].first {
                    JPEGReader.reduced(header.size.width, $0) >= least.width
                        && JPEGReader.reduced(header.size.height, $0) >= least.height
                } ?? 1
            } ?? 1
        return .bitmap(try decoded(data, denominator: denominator))
    }

    func decode(_ data: Data, header: ImageHeader, frame: Int, reduction: Reduction) throws
        -> DecodedPixels?
    {
        guard reduction.size != header.size else {
            // Conversion of a large picture is better fed row by row, too.
            let isConverted = try parsed(data).profileToObey != nil
            return isConverted ? nil : .bitmap(try decoded(data, denominator: 1))
        }
        return .bitmap(
            try upright(data, size: reduction.size) { bytes, header, size, pixels in
                try JPEGReader.read(
                    bytes, header: header, width: size.width, height: size.height,
                    quality: reduction.quality == .best ? .best : .fast,
                    skipsCoefficients: DirectCoding.skipsJPEGCoefficients, into: pixels)
            })
    }

    func decodeAllFrames(_ data: Data, header: ImageHeader) throws -> [Bitmap] {
        [try decoded(data, denominator: 1)]
    }
}

extension JPEGDecoder {
    private func parsed(_ data: Data) throws -> JPEGHeader {
        guard let header = data.withUnsafeBytes(JPEGHeader.init) else {
            throw ImageCodingError.unsupported(.JPEG, reason: "it is of an unusual kind")
        }
        return header
    }

    private func decoded(_ data: Data, denominator: Int) throws -> Bitmap {
        let shown = try parsed(data).shownSize
        let size = PixelSize(
            width: JPEGReader.reduced(shown.width, denominator),
            height: JPEGReader.reduced(shown.height, denominator))
        return try upright(data, size: size) { bytes, header, _, pixels in
            try JPEGReader.read(bytes, header: header, denominator: denominator, into: pixels)
        }
    }

    /// The pixels that `read` writes, turned and with colours as the file says. `size` is as shown, the one
    /// `read` is called with as stored.
    private func upright(
        _ data: Data, size: PixelSize,
        _ read: (UnsafeRawBufferPointer, JPEGHeader, PixelSize, UnsafeMutablePointer<UInt8>) throws
            -> Void
    ) throws -> Bitmap {
        let header = try parsed(data)
        do {
            let bitmap = try data.withUnsafeBytes { bytes in
                if header.orientation > 1, size == header.shownSize,
                    size.pixelCount > Self.mostPixelsToTurnWhole
                {
                    return try Bitmap(size: size, channels: 3) { pixels in
                        try JPEGReader.readTurned(bytes, header: header, into: pixels)
                    }
                }
                return try Bitmap(size: size, channels: 3, orientation: header.orientation) {
                    stored, pixels in
                    try read(bytes, header, stored, pixels)
                }
            }
            return try header.profileToObey.map { try bitmap.converted(by: $0) } ?? bitmap
        } catch DirectCodecError.corrupt(let reason) {
            throw ImageCodingError.corrupt(.JPEG, reason: reason)
        }
    }
}

extension JPEGHeader {
    /// The profile by which colours are converted.
    fileprivate var profileToObey: Data? {
        ICCProfile.isNeutral(profile, channels: isGrey ? 1 : 3) ? nil : profile.map { Data($0) }
    }

    /// The size after the orientation is applied.
    fileprivate var shownSize: PixelSize {
        PixelSize(width: width, height: height).turned(by: orientation)
    }
}
