import DirectCodecs
import Foundation

/// Reads the largest picture of a Windows icon; one that is a PNG goes to the decoder of PNG.
struct ICODecoder: ImageDecoder {
    func canDecode(_ format: ImageFormat) -> Bool { format == .ICO }

    func header(of data: Data, format: ImageFormat) throws -> ImageHeader {
        switch try picture(in: data) {
        case .png(let png):
            var header = try ImageDecoders.decoder(for: .PNG, reading: png).header(
                of: png, format: .PNG)
            header.format = .ICO
            return header
        case .bitmap(let bitmap):
            let size = try bitmap.withUnsafeBytes { try parse($0).size }
            return ImageHeader(format: .ICO, size: size, hasAlpha: true)
        }
    }

    func decode(_ data: Data, header: ImageHeader, frame: Int, leastSize: PixelSize?) throws
        -> DecodedPixels
    {
        switch try picture(in: data) {
        case .png(let png):
            let decoder = try ImageDecoders.decoder(for: .PNG, reading: png)
            return try decoder.decode(
                png, header: decoder.header(of: png, format: .PNG), frame: 0, leastSize: leastSize)
        case .bitmap(let bitmap):
            return .bitmap(try decodeBitmap(bitmap))
        }
    }

    func decodeAllFrames(_ data: Data, header: ImageHeader) throws -> [Bitmap] {
        let pixels = try decode(data, header: header, frame: 0, leastSize: nil)
        if case .bitmap(let bitmap) = pixels { return [bitmap] }
        return [try Bitmap(rendering: pixels.pipeline())]
    }

    private enum Picture {
        case png(Data)
        case bitmap(Data)
    }

    private func picture(in data: Data) throws(ImageCodingError) -> Picture {
        guard let entry = ICODirectory(data).entries.first else {
            throw .corrupt(.ICO, reason: "it has no complete picture")
        }
        let start = data.startIndex
        let bytes = data.subdata(
            in: start + entry.range.lowerBound..<start + entry.range.upperBound)
        guard ImageSniffer.format(of: bytes) == .PNG else { return .bitmap(bytes) }
        try PNGStructure.check(bytes)
        return .png(bytes)
    }

    private func parse(_ bytes: UnsafeRawBufferPointer) throws -> BMPHeader {
        do {
            return try BMPHeader(ByteReader(bytes), start: 0, isIcon: true)
        } catch {
            throw error.codingError(.ICO)
        }
    }

    private func decodeBitmap(_ data: Data) throws -> Bitmap {
        try data.withUnsafeBytes { bytes in
            let header = try parse(bytes)
            let reader = ByteReader(bytes)
            do {
                var pixels = try BMPPixels(reader, header).decoded()
                let hasOpacity =
                    header.hasAlpha
                    && stride(from: 3, to: pixels.count, by: 4).contains { pixels[$0] > 0 }
                if !hasOpacity {
                    pixels = withMask(pixels, channels: header.hasAlpha ? 4 : 3, reader, header)
                }
                return try Bitmap(bytes: pixels, size: header.size, alpha: true, .ICO)
            } catch let failure as BMPFailure {
                throw failure.codingError(.ICO)
            }
        }
    }

    /// RGBA of the colours in `pixels`: transparent where the mask of one bit per pixel after them is
    /// set. A missing mask is clear.
    private func withMask(
        _ pixels: [UInt8], channels: Int, _ reader: ByteReader, _ header: BMPHeader
    ) -> [UInt8] {
        let rowSize = (header.size.width + 31) / 32 * 4
        let maskOffset = header.pixelOffset + header.rowSize * header.size.height
        var result = [UInt8](repeating: 0, count: header.size.pixelCount * 4)
        for y in 0..<header.size.height {
            let storedRow = header.isTopDown ? y : header.size.height - 1 - y
            for x in 0..<header.size.width {
                let place = y * header.size.width + x
                for channel in 0..<3 {
                    result[place * 4 + channel] = pixels[place * channels + channel]
                }
                let byte = reader.byte(maskOffset + storedRow * rowSize + x / 8) ?? 0
                result[place * 4 + 3] = byte & (0x80 >> UInt8(x % 8)) == 0 ? 255 : 0
            }
        }
        return result
    }
}
