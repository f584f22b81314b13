import DirectCodecs
import Foundation

extension ImageDecoder {
    /// Reads Windows bitmaps: 1, 4, 8, 16, 24 and 32 bits, run-length coded ones, bit fields, from the top
    /// or the bottom. Colour profiles in them are not looked at.
    static let bmp = ImageDecoder(.BMP) { data, _, _ in
        try OpenedBMP(data, .BMP)
    }
}

/// A Windows bitmap, in a file of its own or in an icon. A reduced picture is resampled while its rows are decoded,
/// unless it is that of an icon.
struct OpenedBMP: OpenedImage {
    let header: ImageHeader
    private let data: Data
    private let stored: BMPHeader
    private let isIcon: Bool

    init(_ data: Data, _ format: ImageFormat) throws {
        let isIcon = format == .ICO
        let stored = try format.reporting {
            try data.withUnsafeBytes { try BMPHeader($0, isIcon: isIcon) }
        }
        header = ImageHeader(
            format: format, size: stored.size, hasAlpha: isIcon || stored.hasAlpha)
        (self.data, self.stored, self.isIcon) = (data, stored, isIcon)
    }

    func decode(frame: Int, _ size: DecodedSize) throws -> DecodedPixels? {
        switch size {
        case .atLeast: .bitmap(try bitmap(size: stored.size))
        case .exactly where isIcon: nil
        case .exactly(let reduction): .bitmap(try bitmap(size: reduction.size))
        }
    }

    private func bitmap(size: PixelSize) throws -> Bitmap {
        try header.format.reporting {
            try data.withUnsafeBytes { bytes in
                let reader = BMPPixels(bytes, stored)
                return try Bitmap(size: size, channels: header.hasAlpha ? 4 : 3) {
                    _, pixels throws(CodecRefusal) in
                    if isIcon { return try reader.decodeIcon(into: pixels) }
                    guard size != stored.size else { return try reader.decode(into: pixels) }
                    try reader.decode(into: pixels, size: size)
                }
            }
        }
    }
}

extension ImageInformation {
    static func ofBMP(_ file: FilePart) throws(ImageCodingError) -> ImageInformation? {
        let header: BMPHeader
        do {
            header = try BMPHeader(file.bytes, isIcon: false, checksLength: file.isWhole)
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
