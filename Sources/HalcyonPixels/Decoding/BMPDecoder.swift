import Foundation

/// Reads Windows bitmaps: 1, 4, 8, 16, 24 and 32 bits, run-length coded ones, bit fields, from the top
/// or the bottom. Colour profiles in them are not looked at. A reduced picture is resampled while its rows
/// are decoded.
struct BMPDecoder: ImageDecoder {
    func canDecode(_ format: ImageFormat) -> Bool { format == .BMP }

    func header(of data: Data, format: ImageFormat) throws -> ImageHeader {
        try data.withUnsafeBytes { bytes in
            let header = try parse(bytes)
            return ImageHeader(format: .BMP, size: header.size, hasAlpha: header.hasAlpha)
        }
    }

    func decode(_ data: Data, header: ImageHeader, frame: Int, leastSize: PixelSize?) throws
        -> DecodedPixels
    {
        .bitmap(try bitmap(data))
    }

    func decode(_ data: Data, header: ImageHeader, frame: Int, reduction: Reduction) throws
        -> DecodedPixels?
    {
        .bitmap(try bitmap(data, reduction.size))
    }

    func decodeAllFrames(_ data: Data, header: ImageHeader) throws -> [Bitmap] {
        [try bitmap(data)]
    }

    private func bitmap(_ data: Data, _ size: PixelSize? = nil) throws -> Bitmap {
        try data.withUnsafeBytes { bytes in
            let header = try parse(bytes)
            let size = size ?? header.size
            do {
                let reader = BMPPixels(ByteReader(bytes), header)
                return try Bitmap(size: size, channels: reader.channels) {
                    pixels throws(BMPFailure) in
                    guard size != header.size else { return try reader.decode(into: pixels) }
                    try reader.decode(into: pixels, size: size)
                }
            } catch let failure as BMPFailure {
                throw failure.codingError(.BMP)
            }
        }
    }

    private func parse(_ bytes: UnsafeRawBufferPointer) throws -> BMPHeader {
        do {
            return try BMPHeader(ByteReader(bytes), start: 14, isIcon: false)
        } catch {
            throw error.codingError(.BMP)
        }
    }
}

extension Bitmap {
    /// The pixels that one of our own decoders made.
    init(bytes: [UInt8], size: PixelSize, alpha: Bool, _ format: ImageFormat)
        throws(ImageCodingError)
    {
        guard let bitmap = Bitmap(pixels: Data(bytes), size: size, channels: alpha ? 4 : 3) else {
            throw .corrupt(format, reason: "it has no pixels")
        }
        self = bitmap
    }
}
