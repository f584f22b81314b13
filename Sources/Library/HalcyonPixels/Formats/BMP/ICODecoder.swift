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
        guard ImageSniffer.format(of: bytes) == .PNG else { return try OpenedBMP(bytes, .ICO) }
        try PNGStructure.check(bytes)
        return OpenedIconPNG(
            bytes, try ImageDecoders.open(bytes, format: .PNG, coding: coding))
    }
}

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
