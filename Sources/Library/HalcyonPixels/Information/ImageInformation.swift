import DirectCodecs
public import Foundation
import HalcyonWork

/// The properties of an image file, read without decoding pixels.
///
/// A value that is `nil` is not known, or the file has none; ``isComplete`` tells which.
///
/// ```swift
/// let information = try ImageInformation(of: data)
/// print(information.format, information.size, information.frameCount ?? 1)
/// ```
public struct ImageInformation: Hashable, Sendable {
    public let format: ImageFormat
    /// The size of a frame as it is shown: turned as the file's orientation says.
    public internal(set) var size: PixelSize
    /// The EXIF orientation of the stored pixels, 1…8. AVIF and HEIC store it in their own way; for
    /// them this is 1, and ``size`` respects theirs.
    public internal(set) var orientation = 1
    /// Frames of an animation or a sequence, 1 for a picture. A sequence has as many as its file says,
    /// also when this machine cannot decode it.
    public internal(set) var frameCount: Int?
    /// When the frames of an animation are shown; `nil` for a picture.
    public internal(set) var animation: AnimationTiming?
    /// Bits of each sample of a colour as stored, of a palette's colours 8.
    public internal(set) var bitsPerSample: Int?
    /// Whether pixels can be transparent.
    public internal(set) var hasAlpha: Bool?
    /// The colour profile, if the file has one.
    public internal(set) var colorProfile: ColorProfile?
    /// The camera and its settings for the picture.
    public internal(set) var camera: Camera?
    /// The quality, from 1 to 100, at which libjpeg would have written a JPEG file with the quantisation
    /// table that is nearest to the file's own for brightness. Other encoders count in another way.
    public internal(set) var jpegQuality: Int?
    /// Whether the file carries a gain map, by which the picture becomes brighter on displays that can.
    public internal(set) var hasGainMap: Bool?
    /// Whether the bytes told everything there is to know. Otherwise the file is cut short, or only its
    /// beginning was there.
    public internal(set) var isComplete = true

    /// The meaning of colours.
    public enum ColorProfile: Hashable, Sendable {
        /// An ICC profile with the name that it gives itself.
        case icc(name: String?)
        /// The numbers of ITU-T H.273 for colour primaries and transfer characteristics: 1 and 13 are
        /// sRGB, 12 and 13 are Display P3.
        case coded(primaries: Int, transfer: Int)
    }

    /// A camera and its settings for a picture. The place, the author and the serial numbers of the
    /// equipment are never read.
    public struct Camera: Hashable, Sendable {
        public internal(set) var maker: String?
        public internal(set) var model: String?
        public internal(set) var lens: String?
        /// The program that wrote the file.
        public internal(set) var software: String?
        /// The time of the camera's clock, such as `2024-05-01T18:30:00`; with the difference from UTC, as
        /// `2024-05-01T18:30:00+02:00`, where the file names it.
        public internal(set) var taken: String?
        /// Seconds.
        public internal(set) var exposureTime: Double?
        /// The f-number.
        public internal(set) var aperture: Double?
        /// As ISO speed.
        public internal(set) var sensitivity: Int?
        /// Millimetres.
        public internal(set) var focalLength: Double?
    }

    init(_ format: ImageFormat, size: PixelSize = PixelSize(width: 0, height: 0)) {
        self.format = format
        self.size = size
    }
}

extension ImageInformation {
    /// Reads a whole file, or as much of a damaged one as says its size.
    ///
    /// Takes little time for most formats; GIF, WebP, SVG and JPEG XL animations are walked as a whole. No
    /// memory is taken that depends on sizes the file claims. Limits of decoding do not count: the
    /// size of a picture that is too large to be decoded is told.
    /// - Throws: What kind of data it is when it is no image of a known format, and what is wrong when
    ///   its size cannot be read. PDF is not read.
    public init(of data: Data) throws(ImageCodingError) {
        guard !data.isEmpty else { throw .emptyData }
        let format = ImageSniffer.format(of: data)
        guard format != .unknown else {
            throw .unknownFormat(description: ImageSniffer.describe(data))
        }
        if let information = try Self.read(data, isWhole: true, format) {
            self = information
            if format == .JPEGXL, frameCount == nil { countFrames(in: data) }
            return
        }
        switch format {
        case .SVG, .ICO: self = try Self.opened(data)
        case .PDF: throw .unsupported(.PDF, reason: "its size is not read")
        default: throw .corrupt(format, reason: "it ends before its size is told")
        }
    }

    /// Reads the first bytes of a file; `nil` as long as they do not tell its format and its size as
    /// shown.
    ///
    /// That takes some hundred bytes of most files. The size of WebP with EXIF data is told by the end
    /// of the file, because the orientation is; that of SVG, PDF and icons only by the whole file.
    /// - Throws: What is wrong with a file whose beginning is damaged.
    public init?(ofPrefix prefix: Data) throws(ImageCodingError) {
        let format = ImageSniffer.format(of: prefix)
        guard format != .unknown,
            let information = try Self.read(prefix, isWhole: false, format)
        else { return nil }
        self = information
    }

    /// `nil` when the size is not there, or when reading it takes a decoder.
    private static func read(
        _ data: Data, isWhole: Bool, _ format: ImageFormat
    ) throws(ImageCodingError) -> ImageInformation? {
        try data.withUnsafeBytes { bytes in
            Result { () throws(ImageCodingError) in
                try read(FilePart(bytes: bytes, isWhole: isWhole), format)
            }
        }.get()
    }

    private static func read(
        _ file: FilePart, _ format: ImageFormat
    ) throws(ImageCodingError) -> ImageInformation? {
        let information: ImageInformation? =
            switch format {
            case .JPEG: try ofJPEG(file)
            case .PNG: try ofPNG(file)
            case .GIF: ofGIF(file)
            case .WebP: try ofWebP(file)
            case .AVIF, .HEIC: ofHEIF(file, format)
            case .JPEGXL: ofJPEGXL(file)
            case .TIFF: ofTIFF(file)
            case .BMP: try ofBMP(file)
            case .SVG, .PDF, .ICO, .unknown: nil
            }
        guard let information else { return nil }
        guard information.size.width > 0, information.size.height > 0 else {
            throw .corrupt(format, reason: "its size is nothing")
        }
        return information
    }

    private static func opened(_ data: Data) throws(ImageCodingError) -> ImageInformation {
        var limits = DecodingLimits()
        limits.maximumPixelCount = nil
        let header: ImageHeader
        do {
            header = try EncodedImage(data, limits: limits).header
        } catch let error as ImageCodingError {
            throw error
        } catch {
            throw .corrupt(ImageSniffer.format(of: data), reason: "\(error)")
        }
        var information = ImageInformation(header.format, size: header.size)
        information.frameCount = header.frameCount
        information.bitsPerSample = header.depth.rawValue
        information.hasAlpha = header.hasAlpha
        information.hasGainMap = false
        return information
    }

    /// The frames of a JPEG XL animation stand one behind the other without a table of them.
    private mutating func countFrames(in data: Data) {
        // What it cannot open is told as far as it is known.
        guard
            let header = try? ImageDecoders.open(data, format: .JPEGXL, coding: .current).header
        else { return isComplete = false }
        frameCount = header.frameCount
        animation = header.timing
    }
}

/// The bytes of a file, or of its beginning.
struct FilePart {
    let bytes: UnsafeRawBufferPointer
    /// Whether nothing follows.
    let isWhole: Bool
}

extension ImageInformation.Camera {
    /// `nil` when a block of EXIF data says nothing of what is told here.
    init?(exif block: UnsafeRawBufferPointer) {
        guard let first = EXIFDirectory(block) else { return nil }
        maker = first.text(0x010F)
        model = first.text(0x0110)
        software = first.text(0x0131)
        if let details = first.directory(0x8769) {
            lens = details.text(0xA434)
            taken = details.text(0x9003).flatMap(Self.time).map { time in
                time + (details.text(0x9011).flatMap(Self.offset) ?? "")
            }
            exposureTime = details.fraction(0x829A)
            aperture = details.fraction(0x829D)
            sensitivity = details.number(0x8827)
            focalLength = details.fraction(0x920A)
        }
        if self == ImageInformation.Camera() { return nil }
    }

    /// `2024:05:01 18:30:00` as ISO 8601 writes it; `nil` for anything else, such as a clock that was not
    /// set.
    private static func time(_ text: String) -> String? {
        guard text.matches("0000:00:00 00:00:00"), !text.hasPrefix("0000") else { return nil }
        return text.prefix(10).replacing(":", with: "-") + "T" + text.suffix(8)
    }

    /// `+02:00`; `nil` for anything else, such as spaces for what is not known.
    private static func offset(_ text: String) -> String? {
        text.matches("+00:00") || text.matches("-00:00") ? text : nil
    }
}

extension String {
    /// Whether the text has a digit wherever the pattern has a zero, and elsewhere the same.
    fileprivate func matches(_ pattern: String) -> Bool {
        utf8.count == pattern.utf8.count
            && zip(utf8, pattern.utf8).allSatisfy { byte, expected in
                expected == UInt8(ascii: "0") ? byte.isDigit : byte == expected
            }
    }
}
