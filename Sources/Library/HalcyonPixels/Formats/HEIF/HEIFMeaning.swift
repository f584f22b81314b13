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

    /// The image of the file with colours of which libvips knows what they mean.
    func apply(to image: VipsImage) throws(VipsError) -> VipsImage {
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
    /// A grey image whose three colours are the same, with one of them, and its opacity.
    func withOneColour() throws(VipsError) -> VipsImage {
        let (colour, alpha) = try alphaSplit()
        let grey: VipsInterpretation = format == .ushort ? .grey16 : .bw
        let first = try colour.apply("extract_band", ["band": 0]).interpreted(as: grey)
        guard let alpha else { return first }
        return try first.bandJoined(with: alpha).interpreted(as: grey)
    }
}

/// The storage of a HEIF file's primary picture, and the meaning of its colours.
struct HEIFPicture {
    /// The kind of the item, such as `hvc1`; `nil` in a file without one.
    var type: String?
    /// The code points of ITU-T H.273 for primaries and transfer characteristics: those of a box count more than
    /// those of the bit stream.
    var colours: (primaries: Int, transfer: Int)? { boxColours ?? streamColours }
    private var boxColours: (primaries: Int, transfer: Int)?
    private var streamColours: (primaries: Int, transfer: Int)?
    /// The ICC profile by its name.
    private var profile: ImageInformation.ColorProfile?
    var hasProfile: Bool { profile != nil }
    /// The profile, which counts more, or the numbers of a box.
    var colorProfile: ImageInformation.ColorProfile? {
        profile ?? boxColours.map { .coded(primaries: $0.primaries, transfer: $0.transfer) }
    }
    /// Bits per sample, as the configuration of the codec tells them.
    private(set) var depth: Int?
    /// Whether there is brightness alone.
    private(set) var isMonochrome = false
    /// By what an item without a codec is compressed as a whole, such as `defl`.
    private(set) var compression: String?

    init(_ file: Data) {
        self = file.withUnsafeBytes { bytes in
            ISOBoxes(bytes).first("meta").map { HEIFItems($0).primaryPicture } ?? HEIFPicture([])
        }
    }

    init(_ properties: [ISOBoxes.Box]) {
        for property in properties { take(property) }
    }

    mutating func take(_ property: ISOBoxes.Box) {
        switch property.type {
        // ISO/IEC 14496-12, 12.1.5.
        case "colr":
            switch property.code(0) {
            case "nclx":
                guard let primaries = property.number(4, 2), let transfer = property.number(6, 2),
                    boxColours == nil
                else { break }
                boxColours = (primaries, transfer)
            case "prof", "rICC":
                profile = .icc(name: property.rest(from: 4).flatMap(ProfileName.of))
            default: break
            }
        // ISO/IEC 14496-15, 8.3.2.1, and the binding of AV1, 2.3.
        case "hvcC":
            isMonochrome = property.byte(16).map { $0 & 3 == 0 } ?? false
            depth = depth ?? property.byte(17).map { Int($0 & 7) + 8 }
            if streamColours == nil { streamColours = HEVCColours.codes(property) }
        case "av1C":
            isMonochrome = property.byte(2).map { $0 & 0x10 != 0 } ?? false
            depth = depth ?? property.byte(2).map { $0 & 0x40 == 0 ? 8 : $0 & 0x20 == 0 ? 10 : 12 }
        case "cmpC": compression = property.code(4)
        default: break
        }
    }

    /// The kind of a picture that libheif may not know, in words that follow "unsupported:"; `nil` for those that
    /// it always knows.
    var unusualKind: String? {
        switch type {
        case "unci":
            guard let compression else {
                return "its pixels are stored uncompressed (unci), which is not read"
            }
            let methods = ["defl": "deflate", "zlib": "zlib", "brot": "Brotli"]
            return "its uncompressed pixels (unci) are packed with "
                + "\(methods[compression] ?? compression), which is not read"
        case "mski": return "it is a mask (mski), which is not read"
        default:
            return type.flatMap { Self.foreignCodecs[$0] }
                .map { "its pixels are stored as \($0), which is not read" }
        }
    }

    private static let foreignCodecs = [
        "jpeg": "JPEG", "j2k1": "JPEG 2000", "avc1": "H.264", "vvc1": "H.266", "evc1": "EVC",
        "lhv1": "layered H.265",
    ]
}
