import DirectCodecs
public import Foundation
import Vips

/// Options for writing an image.
public struct ImageEncodingOptions: Hashable, Sendable {
    /// 0 (smallest) … 1 (best) for the lossy formats JPEG, WebP, AVIF, HEIC and JPEG XL; lossless ones
    /// have none. 1 by default: the codec's best lossy setting, not a lossless mode.
    public var quality: CGFloat
    /// Whether WebP and JPEG XL are written in their lossless modes, in which `quality` does not count;
    /// off by default. The other formats have one mode each.
    ///
    /// WebP holds 8 bits, and of an animation or with metadata it does not keep the colours of wholly
    /// transparent pixels.
    public var isLossless: Bool
    /// Metadata to write into the file; none by default, so that no position or serial number leaks.
    /// An orientation in it becomes 1. EXIF is written into JPEG, PNG, WebP, AVIF and HEIC, XMP into
    /// these and TIFF, IPTC into JPEG and TIFF; elsewhere it is left out.
    public var metadata: ImageMetadata?
    /// The ICC profile that says what the samples mean, which are written as they are; `nil`: they are
    /// sRGB, and no profile is written. Of JPEG, PNG, WebP, AVIF, HEIC and TIFF.
    package var profile: Data?
    /// The effort spent on smaller files, on the codec's own scale: WebP 0…6, AVIF and HEIC 0…9,
    /// JPEG XL 1…9, GIF 1…10. `nil` is the default of the format.
    package var effort: Int?
    /// Whether JPEG files are written from coarse to fine.
    package var isProgressive = false
    /// Whether a still picture without colours is written without them where the format can hold that: as one
    /// channel, or two with opacity.
    package var storesGrey = false
    package var coding = DirectCoding.current

    public init(quality: CGFloat = 1, isLossless: Bool = false, metadata: ImageMetadata? = nil) {
        self.quality = quality
        self.isLossless = isLossless
        self.metadata = metadata
    }
}

/// The metadata blocks of an image file, as stored there.
public struct ImageMetadata: Hashable, Sendable {
    public var exif: Data?
    public var xmp: Data?
    public var iptc: Data?

    public init(exif: Data? = nil, xmp: Data? = nil, iptc: Data? = nil) {
        self.exif = exif
        self.xmp = xmp
        self.iptc = iptc
    }
}

extension ImageMetadata {
    /// The metadata blocks of a file that libvips reads; pixels are not decoded. PNG, SVG, GIF, BMP and
    /// ICO files often have none, and then all blocks are `nil`.
    ///
    /// - Throws: `ImageCodingError` when `data` is not an image, or one that cannot be read.
    public init(reading data: Data) throws {
        let encoded = try EncodedImage(data, limits: DecodingLimits(maximumPixelCount: nil))
        if encoded.opened is OpenedJPEG {
            let found = JPEGMetadata(reading: data)
            self.init(exif: found.exif, xmp: found.xmp, iptc: found.iptc)
            return
        }
        guard let loader = VipsLoader(encoded.header.format) else {
            self.init()
            return
        }
        do {
            let image = try loader.open(encoded.data)
            self.init(
                exif: image.blob("exif-data"), xmp: image.blob("xmp-data"),
                iptc: image.blob("iptc-data"))
        } catch {
            // The file is whole, and of a kind that only its own decoder reads.
            guard encoded.opened is OpenedByVips else {
                self.init()
                return
            }
            throw error.codingError(encoded.header.format)
        }
    }

    /// A file without what its metadata tells of the place where the picture was taken.
    ///
    /// The pixels stay as they are to the bit, and so does all other metadata.
    package static func removingPosition(from file: Data) -> Data {
        PositionMetadata.removed(from: file)
    }

    /// The blocks that libvips writes into files of `format`, as its fields. Pixels are upright by now,
    /// so that the orientation in EXIF data is set to 1.
    func fields(for format: ImageFormat) -> [(String, VipsValue)] {
        var fields: [(String, VipsValue)] = []
        if let exif, Self.exifFormats.contains(format) {
            fields.append(("exif-data", .blob(EXIFBlock.upright(exif))))
            fields.append(("orientation", 1))
        }
        if let xmp, Self.xmpFormats.contains(format) { fields.append(("xmp-data", .blob(xmp))) }
        if let iptc, Self.iptcFormats.contains(format) { fields.append(("iptc-data", .blob(iptc))) }
        return fields
    }

    package static let profileFormats: Set<ImageFormat> = exifFormats.union([.TIFF])
    private static let exifFormats: Set<ImageFormat> = [.JPEG, .PNG, .WebP, .AVIF, .HEIC]
    private static let xmpFormats = exifFormats.union([.TIFF])
    private static let iptcFormats: Set<ImageFormat> = [.JPEG, .TIFF]
}

extension ImageMetadata {
    /// Only what these blocks say of who made the picture and who may use it: author and copyright notice of
    /// EXIF; rights, creator, contributor and publisher of XMP with its namespaces for rights and licences;
    /// author, credit and copyright notice of IPTC. `nil` when they say nothing of that.
    package var rights: ImageMetadata? {
        let kept = ImageMetadata(
            exif: exif.flatMap { EXIFBlock.rights(of: $0) },
            xmp: xmp.flatMap { XMPRights.kept(of: $0) },
            iptc: iptc.flatMap { IPTCBlock.rights(of: $0) })
        return kept == ImageMetadata() ? nil : kept
    }
}

extension Image {
    /// The orientation of EXIF, 1…8, that was applied when an image was made of `file`; 1 for files that
    /// have none, and for those of AVIF, HEIC and JPEG XL, which are turned by the format's own property.
    package static func orientation(of file: Data) -> Int {
        guard let loader = VipsLoader(ImageSniffer.format(of: file)),
            let header = try? loader.open(file)
        else { return 1 }
        return header.orientation(in: loader.format)
    }

    /// A file without its colour profile, so that its samples are read as they are, and that profile; `nil`
    /// when it has none for red, green and blue, and for other files than JPEG, PNG and WebP.
    package static func takingProfile(from file: Data) -> (file: Data, profile: Data)? {
        EmbeddedProfile.taken(from: file)
    }
}
