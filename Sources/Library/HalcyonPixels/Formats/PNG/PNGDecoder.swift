import DirectCodecs
import Foundation
import Vips

extension ImageDecoder {
    /// Reads ordinary PNG files directly. Others, and the judgement of damaged ones, are left to libvips.
    ///
    /// libvips 8.14 inflates with zlib and takes filters off without SIMD, and its pipeline costs more than
    /// the pixels of an icon. A reduced picture is resampled while its rows come out.
    static let png = ImageDecoder(.PNG) { data, _, _ in
        // Why it cannot be read does not matter: libvips reads it, or tells what is wrong.
        guard let file = try? data.withUnsafeBytes({ try PNGFile($0) }) else { return nil }
        return OpenedPNG(data, file)
    }
}

/// A PNG file of a common kind. Colours of another space than sRGB are converted last.
struct OpenedPNG: OpenedImage {
    let header: ImageHeader
    private let data: Data
    private let file: PNGFile
    let orientation: Int
    private let profile: ForeignProfile?
    /// The colours of the pixels by numbers; `nil` where they are those of sRGB, or have a profile.
    private let colours: ColourDescription?

    /// `nil` for a file with unusual EXIF data, and for a grey one with a profile of tables.
    init?(_ data: Data, _ file: PNGFile) {
        let profile =
            file.colours == nil
            ? ForeignProfile(file.profile, channels: file.isGrey ? 1 : 3) : nil
        guard let orientation = EXIFBlock.orientation(ofBlock: file.exif),
            profile?.isGreyTable != true
        else { return nil }
        self.profile = profile
        colours = file.colours.flatMap { $0.isSRGB ? nil : $0 }
        self.data = data
        self.file = file
        self.orientation = orientation
        let stored = PixelSize(width: file.width, height: file.height)
        header = ImageHeader(
            format: .PNG, size: stored.turned(by: orientation), hasAlpha: file.hasAlpha)
    }

    func decode(frame: Int, _ size: DecodedSize) throws -> DecodedPixels? {
        if isLeftToVips(size) { return nil }
        return switch size {
        case .atLeast: try bitmap(size: header.size).map { .bitmap($0) }
        case .exactly(let reduction) where isReduced || reduction.size == header.size:
            try bitmap(size: reduction.size).map { .bitmap($0) }
        case .exactly: nil
        }
    }

    /// Whether a smaller picture is made while rows come out, before colours are converted.
    var isReduced: Bool { colours?.hasStepsOfSRGB ?? true }

    func isLeftToVips(_ size: DecodedSize) -> Bool {
        profile?.isLeftToVips(size, of: header) ?? false
    }

    private func bitmap(size: PixelSize) throws -> Bitmap? {
        let stored = try pixels(size: size)
        if let colours { return stored?.convertingNewPixels(from: colours) }
        return try stored?.convertingNewPixels(by: profile)
    }

    /// With colours as they are stored.
    private func pixels(size: PixelSize) throws -> Bitmap? {
        try data.withUnsafeBytes { (bytes: UnsafeRawBufferPointer) -> Bitmap? in
            do throws(CodecRefusal) {
                let reader = try PNGReader(file, bytes)
                return try Bitmap(size: size, channels: file.channels, orientation: orientation) {
                    stored, pixels throws(CodecRefusal) in
                    try reader.read(into: pixels, width: stored.width, height: stored.height)
                }
            } catch {
                guard error == .wrongChecksum else { return nil }
                throw ImageCodingError.corrupt(.PNG, reason: "the checksum of its pixels is wrong")
            }
        }
    }
}

extension PNGStructure {
    /// Walks the chunks of a PNG file before it is given to a decoder.
    ///
    /// - Throws: `ImageCodingError` for a file that claims more than it has, or whose metadata would take
    ///   too much memory.
    @discardableResult
    static func check(_ data: Data) throws -> PNGStructure {
        try ImageFormat.PNG.reporting { try data.withUnsafeBytes { try PNGStructure($0) } }
    }
}
