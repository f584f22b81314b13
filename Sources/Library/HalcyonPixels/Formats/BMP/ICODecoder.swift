import DirectCodecs
import Foundation

extension ImageDecoder {
    /// Reads the largest picture of a Windows icon; one that is a PNG goes to the decoder of PNG.
    static let ico = ImageDecoder(.ICO) { data, _, coding in
        guard let entry = ICODirectory(data).entries.first else {
            throw ImageCodingError.corrupt(.ICO, reason: "it has no complete picture")
        }
        let start = data.startIndex
        let bytes = data.subdata(
            in: start + entry.range.lowerBound..<start + entry.range.upperBound)
        guard ImageSniffer.format(of: bytes) == .PNG else { return try OpenedIconBitmap(bytes) }
        try PNGStructure.check(bytes)
        return OpenedIconPNG(
            bytes, try ImageDecoders.open(bytes, format: .PNG, coding: coding))
    }
}

/// An icon whose picture is a PNG file.
struct OpenedIconPNG: OpenedImage {
    let header: ImageHeader
    private let data: Data
    private let png: any OpenedImage

    init(_ data: Data, _ png: any OpenedImage) {
        self.data = data
        self.png = png
        var header = png.header
        header.format = .ICO
        self.header = header
    }

    var orientation: Int { png.orientation }

    func isLeftToVips(_ size: DecodedSize) -> Bool { png.isLeftToVips(.atLeast(nil)) }

    func decode(frame: Int, _ size: DecodedSize) throws -> DecodedPixels? {
        guard case .atLeast(let least) = size else { return nil }
        return try ImageDecoders.decode(png, of: data, frame: 0, atLeast: least)
    }
}

/// An icon whose picture is a bitmap, with a mask of one bit per pixel after it.
struct OpenedIconBitmap: OpenedImage {
    let header: ImageHeader
    private let data: Data
    private let stored: BMPHeader

    init(_ data: Data) throws {
        self.data = data
        stored = try BMPHeader(of: data, start: 0, isIcon: true, .ICO)
        header = ImageHeader(format: .ICO, size: stored.size, hasAlpha: true)
    }

    func decode(frame: Int, _ size: DecodedSize) throws -> DecodedPixels? {
        guard case .atLeast = size else { return nil }
        return .bitmap(try bitmap())
    }

    private func bitmap() throws -> Bitmap {
        try ImageFormat.ICO.reporting {
            try data.withUnsafeBytes { bytes in
                let reader = ByteReader(bytes)
                return try Bitmap(size: stored.size, channels: 4) {
                    _, pixels throws(CodecRefusal) in
                    try BMPPixels(reader, stored).decode(into: pixels)
                    let places = 0..<stored.size.pixelCount
                    if !stored.hasAlpha || places.allSatisfy({ pixels[4 * $0 + 3] == 0 }) {
                        applyMask(reader, to: pixels)
                    }
                }
            }
        }
    }

    /// Makes RGBA of the pixels as they are stored: transparent where the mask of one bit per pixel after
    /// them is set. A missing mask is clear.
    private func applyMask(_ reader: ByteReader, to pixels: UnsafeMutablePointer<UInt8>) {
        let (width, channels) = (stored.size.width, stored.hasAlpha ? 4 : 3)
        let rowSize = (width + 31) / 32 * 4
        let maskOffset = stored.pixelOffset + stored.rowSize * stored.size.height
        // From the last pixel on, so that none is overwritten before it is moved.
        for place in (0..<stored.size.pixelCount).reversed() {
            let (y, x) = place.quotientAndRemainder(dividingBy: width)
            for channel in (0..<3).reversed() {
                pixels[place * 4 + channel] = pixels[place * channels + channel]
            }
            let storedRow = stored.isTopDown ? y : stored.size.height - 1 - y
            let byte = reader.byte(maskOffset + storedRow * rowSize + x / 8) ?? 0
            pixels[place * 4 + 3] = byte & (0x80 >> UInt8(x % 8)) == 0 ? 255 : 0
        }
    }
}
