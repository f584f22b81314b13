import DirectCodecs
import Foundation
import Synchronization
import Vips

/// The decoders, asked in this order. A new decoder is one new file and one line here.
enum ImageDecoders {
    /// The decoders with their own codec for one format; `DirectCoding` selects among them. They
    /// open the usual kinds of their format and leave the others to the decoders behind them.
    static let direct: [ImageDecoder] = [.jpeg, .animatedPNG, .png, .webP, .gif, .avif, .jpegXL]

    /// The decoders for all other files, whatever the format.
    static let general: [ImageDecoder] = [.vips, .bmp, .ico]

    /// Opens `data`, a file of `format`, with the first decoder that takes it.
    ///
    /// - Parameter atOnce: The pictures whose pixels are wanted with the header.
    static func open(
        _ data: Data, format: ImageFormat, coding: DirectCoding, atOnce: DecodingAtOnce? = nil
    ) throws -> any OpenedImage {
        let isolated = DecodingIsolation.current.covers(format) ? [ImageDecoder.worker(atOnce)] : []
        for decoder in isolated + decoders(of: format, coding) where decoder.canDecode(format) {
            if let opened = try decoder.open(data, format, coding) { return opened }
        }
        throw ImageCodingError.unsupported(format, reason: "no decoder for it is installed")
    }

    /// Decodes a frame of a file that was opened: by what it was opened as, or, if that leaves the pixels to
    /// others, with libvips, which reads them or tells what is wrong.
    static func decode(
        _ opened: any OpenedImage, of data: Data, frame: Int, atLeast size: PixelSize?
    ) throws -> DecodedPixels {
        if let pixels = try opened.decode(frame: frame, .atLeast(size)) { return pixels }
        return .pipeline(
            try OpenedByVips(data, header: opened.header).pixels(frame: frame, atLeast: size))
    }

    static func canDecode(_ format: ImageFormat) -> Bool {
        decoders(of: format, .current).contains { $0.canDecode(format) }
    }

    /// Whether all frames of animated files of `format` are read on this machine: those of some formats by
    /// their own codecs only.
    static func canPlay(_ format: ImageFormat) -> Bool {
        switch format {
        case .GIF, .WebP: canDecode(format)
        case .PNG, .AVIF, .JPEGXL:
            DirectCoding.current.contains(format) && direct.contains { $0.canDecode(format) }
        default: false
        }
    }

    private static func decoders(
        of format: ImageFormat, _ coding: DirectCoding
    ) -> [ImageDecoder] {
        coding.contains(format) ? direct + general : general
    }
}

/// Reads one or more formats. All calls block and belong on the decoding pool.
struct ImageDecoder: Sendable {
    let canDecode: @Sendable (_ format: ImageFormat) -> Bool

    /// Reads the header of a file, and nothing of its pixels; `nil` for a file that is left to the decoders
    /// behind this one.
    ///
    /// - Throws: What is wrong with a file that no other decoder could read either.
    let open: Opening

    typealias Opening =
        @Sendable (Data, ImageFormat, DirectCoding) throws -> (any OpenedImage)?
}

extension ImageDecoder {
    /// Reads one format, on any machine.
    init(_ format: ImageFormat, open: @escaping Opening) {
        self.init(canDecode: { $0 == format }, open: open)
    }
}

/// A file whose header has been read, once, and which answers everything else from it.
protocol OpenedImage: Sendable {
    var header: ImageHeader { get }

    /// Decodes one frame: oriented, in sRGB, 8 or 16 bits, 3 or 4 channels, straight alpha. `nil`
    /// if this decoder cannot do it well. For `.exactly` the caller then decodes larger and
    /// resamples; otherwise libvips decodes.
    func decode(frame: Int, _ size: DecodedSize) throws -> DecodedPixels?

    /// Whether libvips decodes the only frame at this size, so that ``decode(frame:_:)`` is
    /// expected to return `nil` or a pipeline.
    func isLeftToVips(_ size: DecodedSize) -> Bool

    /// The EXIF orientation of the stored pixels, 1…8; 1 also where the codec turns them.
    var orientation: Int { get }

    /// A reader before the first frame of an animation; cheap until it is asked for one.
    func frameReader() throws -> any FrameReader

    /// The still picture that represents an animation, if it can differ from the first frame.
    func still() throws -> (any OpenedImage)?
}

extension OpenedImage {
    func readFrame(_ index: Int) throws -> DecodedPixels {
        var reader = try frameReader()
        return .bitmap(try reader.frame(index))
    }

    func isLeftToVips(_ size: DecodedSize) -> Bool { false }
    var orientation: Int { 1 }

    func still() throws -> (any OpenedImage)? { nil }

    func frameReader() throws -> any FrameReader {
        throw ImageCodingError.unsupported(header.format, reason: "it has no frames")
    }
}

/// The properties of an encoded image that are known before decoding.
struct ImageHeader: Hashable, Sendable {
    var format: ImageFormat
    /// The size after EXIF orientation is applied, of one frame.
    var size: PixelSize
    /// The size of what is decoded of a frame, where the file shows only a part of it.
    var storedSize: PixelSize?
    var hasAlpha: Bool
    var depth: Bitmap.Depth = .eight
    /// For animated files the frames' (clamped) durations and the loop count.
    var timing: AnimationTiming?

    /// Frames in the file; 1 for still images.
    var frameCount: Int { timing?.durations.count ?? 1 }

    var bytesPerPixel: Int { (hasAlpha ? 4 : 3) * depth.rawValue / 8 }
}

enum DecodedSize {
    /// Any size from this up to the full one, at about the same aspect ratio; without one the full size.
    case atLeast(PixelSize?)
    /// Exactly this size, which may be the full one.
    case exactly(Reduction)

    /// The minimum size of this request for a picture of size `full`.
    func least(_ full: PixelSize) -> PixelSize {
        switch self {
        case .atLeast(let size): size ?? full
        case .exactly(let reduction): reduction.size
        }
    }
}

enum DecodedPixels: Sendable {
    case bitmap(Bitmap)
    /// A libvips pipeline that decodes as it is read, from top to bottom, once.
    case pipeline(VipsImage)

    func pipeline() throws -> VipsImage {
        switch self {
        case .bitmap(let bitmap): try bitmap.vipsImage()
        case .pipeline(let image): image
        }
    }

    func bitmap() throws -> Bitmap {
        switch self {
        case .bitmap(let bitmap): bitmap
        case .pipeline(let image): try Bitmap(rendering: image)
        }
    }
}

/// A library that reads one format, loaded when the first file needs it.
package struct CodecLibrary: Sendable {
    package let name: String
    package let version: String

    package static var installed: [CodecLibrary] {
        [("libavif", AVIFFile.libraryVersion), ("libjxl", JPEGXLFile.libraryVersion)]
            .compactMap { name, version in version.map { CodecLibrary(name: name, version: $0) } }
    }
}

/// Decodes the frames of one animated file from the first to the last, each once.
///
/// A frame builds on those before it. A reader keeps what the next one needs, so that a whole run costs
/// one decode per frame; it never goes back. Used by one thread at a time.
protocol FrameReader: Sendable {
    /// The least index that can still be read.
    var position: Int { get }

    /// Decodes on to frame `index`, not below `position` and not beyond the last, and returns it in its
    /// full size. A reader that has thrown cannot be used again.
    mutating func frame(_ index: Int) throws -> Bitmap
}

/// Reads the frames of an animation that a codec draws onto a canvas of its own.
struct CanvasFrameReader: FrameReader {
    private(set) var position = 0

    private let header: ImageHeader
    private let canvas: any AnimationCanvas
    private let orientation: Int
    private let profile: ForeignProfile?

    /// - Parameters:
    ///   - orientation: How the stored frames are turned, 1…8 as in EXIF.
    ///   - profile: A colour profile that has to be obeyed.
    init(
        _ header: ImageHeader, _ canvas: any AnimationCanvas, orientation: Int = 1,
        profile: ForeignProfile? = nil
    ) {
        (self.header, self.canvas) = (header, canvas)
        (self.orientation, self.profile) = (orientation, profile)
    }

    mutating func frame(_ index: Int) throws -> Bitmap {
        defer { position = index + 1 }
        return try header.format.reporting {
            for _ in position..<index { try canvas.skip() }
            let channels = header.hasAlpha ? 4 : 3
            return try Bitmap(
                size: header.size, channels: channels, depth: header.depth, orientation: orientation
            ) { try canvas.next(into: $1, channels: channels) }
            .convertingNewPixels(by: profile)
        }
    }
}

/// A frame reader that needs only the file and also provides its header.
protocol FileFrameReader: FrameReader {
    /// Parses a file; decodes no frame.
    init(_ data: Data) throws

    var header: ImageHeader { get }

    /// Whether a smaller picture can be had for less, and as good as a full one that is resampled.
    var canReduce: Bool { get }

    /// Decodes a still picture, which has not been decoded yet, in a smaller size. Only if ``canReduce``.
    mutating func reduced(to size: PixelSize) throws -> Bitmap
}

/// A file that one frame reader handles completely, stills included.
final class OpenedFrames<Reader: FileFrameReader>: OpenedImage {
    let header: ImageHeader
    /// Whether the frame of a still picture is reduced while it is decoded.
    let isReduced: Bool
    private let data: Data
    /// The reader that has parsed the file, for the first caller.
    private let first: Mutex<Reader?>

    init(_ data: Data) throws {
        self.data = data
        let reader = try Reader(data)
        header = reader.header
        isReduced = header.timing == nil && reader.canReduce
        first = Mutex(reader)
    }

    func decode(frame: Int, _ size: DecodedSize) throws -> DecodedPixels? {
        switch size {
        case .atLeast: return try readFrame(frame)
        case .exactly(let reduction):
            guard isReduced, reduction.size != header.size else { return nil }
            var reader = try reader()
            return .bitmap(try reader.reduced(to: reduction.size))
        }
    }

    func frameReader() throws -> any FrameReader { try reader() }

    private func reader() throws -> Reader {
        let parsed = first.withLock { reader in
            defer { reader = nil }
            return reader
        }
        return try parsed ?? Reader(data)
    }
}
