import DirectCodecs
import Foundation

extension ImageDecoder {
    /// Reads Windows bitmaps: 1, 4, 8, 16, 24 and 32 bits, run-length coded ones, bit fields, from the top
    /// or the bottom. Colour profiles in them are not looked at.
    static let bmp = ImageDecoder(.BMP) { data, _, _ in
        OpenedBMP(data, try BMPHeader(of: data, start: 14, isIcon: false, .BMP))
    }
}

/// A Windows bitmap. A reduced picture is resampled while its rows are decoded.
struct OpenedBMP: OpenedImage {
    let header: ImageHeader
    private let data: Data
    private let stored: BMPHeader

    init(_ data: Data, _ stored: BMPHeader) {
        self.data = data
        self.stored = stored
        header = ImageHeader(format: .BMP, size: stored.size, hasAlpha: stored.hasAlpha)
    }

    func decode(frame: Int, _ size: DecodedSize) throws -> DecodedPixels? {
        switch size {
        case .atLeast: .bitmap(try bitmap(size: stored.size))
        case .exactly(let reduction): .bitmap(try bitmap(size: reduction.size))
        }
    }

    private func bitmap(size: PixelSize) throws -> Bitmap {
        try ImageFormat.BMP.reporting {
            try data.withUnsafeBytes { bytes in
                let reader = BMPPixels(ByteReader(bytes), stored)
                return try Bitmap(size: size, channels: reader.channels) {
                    _, pixels throws(CodecRefusal) in
                    guard size != stored.size else { return try reader.decode(into: pixels) }
                    try reader.decode(into: pixels, size: size)
                }
            }
        }
    }
}

extension BMPHeader {
    init(of data: Data, start: Int, isIcon: Bool, _ format: ImageFormat) throws {
        self = try format.reporting {
            try data.withUnsafeBytes {
                try BMPHeader(ByteReader($0), start: start, isIcon: isIcon)
            }
        }
    }
}

extension ImageInformation {
    static func ofBMP(_ file: FilePart) throws(ImageCodingError) -> ImageInformation? {
        let header: BMPHeader
        do {
            header = try BMPHeader(
                file.reader, start: 14, isIcon: false, checksLength: file.isWhole)
        } catch {
            // Its header has at most this many bytes, with the masks behind it.
            if !file.isWhole, file.bytes.count < 14 + 124 + 16 { return nil }
            throw error.codingError(.BMP)
        }
        var information = ImageInformation(.BMP, size: header.size)
        information.frameCount = 1
        information.bitsPerSample = 8
        information.hasAlpha = header.hasAlpha
        information.hasGainMap = false
        return information
    }
}
