import DirectCodecs
import Foundation
import Vips

/// Properties of a HEIF file that libvips and libheif do not pass on: its colours, and which unusual kind it
/// is.
struct HEIFMeaning: Sendable {
    /// Colours that are stated by numbers; `nil` for those of sRGB, of a profile, and of Display P3.
    private(set) var colours: ColourDescription?
    /// Whether colours are those of Display P3, whose profile libvips brings: so pixels need not be held.
    private let isDisplayP3: Bool
    /// Whether there is brightness alone, which libheif hands on as colours, so that a profile for grey does
    /// not fit them.
    private let isMonochrome: Bool
    /// The kind of a file that libheif may not read.
    private let unusualKind: String?

    /// - Throws: `ImageCodingError` for colours that are not read.
    init(_ file: Data, _ format: ImageFormat) throws(ImageCodingError) {
        let picture = HEIFPicture(file)
        isMonochrome = picture.isMonochrome
        unusualKind = picture.unusualKind
        guard !picture.hasProfile, let codes = picture.colours else {
            isDisplayP3 = false
            return
        }
        isDisplayP3 = codes == (12, 13)
        guard
            let colours = ColourDescription(primaries: codes.primaries, transfer: codes.transfer)
        else {
            throw .unsupported(
                format, reason: "its transfer characteristics \(codes.transfer) are not read")
        }
        if !isDisplayP3, !colours.isSRGB { self.colours = colours }
    }

    /// Runs `body`, which reads a file; a failure of libvips in it becomes one of data of `format`, or the
    /// name of the unusual kind that it does not read.
    static func reporting<Result>(
        _ meaning: HEIFMeaning?, _ format: ImageFormat, _ body: () throws -> Result
    ) throws -> Result {
        do {
            return try body()
        } catch let error as VipsError {
            guard let kind = meaning?.unusualKind else { throw error.codingError(format) }
            throw ImageCodingError.unsupported(format, reason: kind)
        }
    }

    fileprivate func apply(to image: VipsImage) throws(VipsError) -> VipsImage {
        var image = image
        // Whether it is read turns out with the first pixels.
        if unusualKind != nil { image = try image.copiedToMemory() }
        if isDisplayP3 { return try image.withDisplayP3Profile() }
        guard isMonochrome, let profile = image.blob("icc-profile-data"),
            ICCProfile(profile)?.channelCount == 1
        else { return image }
        return try image.withOneColour()
    }
}

extension VipsImage {
    /// The image of a HEIF file with colours of which libvips knows what they mean.
    func meant(by meaning: HEIFMeaning) throws(VipsError) -> VipsImage {
        try meaning.apply(to: self)
    }

    /// A grey image whose three colours are the same, with one of them, and its opacity.
    func withOneColour() throws(VipsError) -> VipsImage {
        let (colour, alpha) = try alphaSplit()
        let grey: VipsInterpretation = format == .ushort ? .grey16 : .bw
        let first = try colour.apply("extract_band", ["band": 0]).interpreted(as: grey)
        guard let alpha else { return first }
        return try first.bandJoined(with: alpha).interpreted(as: grey)
    }
}
