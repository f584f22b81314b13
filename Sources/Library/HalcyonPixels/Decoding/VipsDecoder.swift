import DirectCodecs
import Foundation
import Synchronization
import Vips

extension ImageDecoder {
    /// Reads JPEG, PNG, GIF, WebP, AVIF, HEIC, JPEG XL, TIFF, SVG and PDF with libvips, each with the one
    /// loader that its bytes call for.
    static let vips = ImageDecoder { format in
        guard let loader = VipsLoader(format), Vips.supports(operation: loader.nickname) else {
            return false
        }
        return format != .HEIC || readsHEIC
    } open: { data, format, _ in
        try OpenedByVips(data, format)
    }

    /// Whether HEIC can be decoded. The loader exists whatever codecs libheif has, so one is tried.
    private static let readsHEIC = (try? openSmallHEIC()?.copiedToMemory()) != nil

    /// Opens a small HEIC file, for which libheif loads its plugins. Starts no thread.
    static func openSmallHEIC() throws -> VipsImage? {
        try Data(base64Encoded: smallHEIC).map { try VipsLoader.of(.HEIC).open($0) }
    }

    /// A brown square of 16 × 16 pixels.
    private static let smallHEIC = """
        AAAAHGZ0eXBoZWljAAAAAG1pZjFoZWljbWlhZgAAAa1tZXRhAAAAAAAAACFoZGxyAAAAAAAAAABwaWN0AAAA\
        AAAAAAAAAAAAAAAAAA5waXRtAAAAAAACAAAAEGlkYXQAAAAAABAAEAAAADhpbG9jAQAAAERAAAIAAQAAAAAA\
        AAHRAAEAAAAAAAAAJwACAAEAAAAAAAAAAQAAAAAAAAAIAAAAOGlpbmYAAAAAAAIAAAAVaW5mZQIAAAEAAQAA\
        aHZjMQAAAAAVaW5mZQIAAAAAAgAAZ3JpZAAAAADYaXBycAAAALZpcGNvAAAAdmh2Y0MBA3AAAAAAAAAAAAAe\
        8AD8/fj4AAAPAyAAAQAYQAEMAf//A3AAAAMAkAAAAwAAAwAeugJAIQABACpCAQEDcAAAAwCQAAADAAADAB6g\
        IIEFluqumubgQEDAgAAAAwCAAAADAIQiAAEABkQBwXPBiQAAABRpc3BlAAAAAAAAAEAAAABAAAAAFGlzcGUA\
        AAAAAAAAEAAAABAAAAAQcGl4aQAAAAADCAgIAAAAGmlwbWEAAAAAAAAAAgABAoECAAICA4QAAAAaaXJlZgAA\
        AAAAAAAOZGltZwACAAEAAQAAAC9tZGF0AAAAIygBrwpITUOA80JwJ/aqfkegLvRQAKKn/26OQJt8K3qPUnaw
        """
}

extension OpenedByVips {
    init(_ data: Data, _ format: ImageFormat) throws {
        let isHEIF = [.AVIF, .HEIC].contains(format)
        let properties = isHEIF ? HEIFProperties(data) : nil
        var (data, structure) = (data, format == .GIF ? GIFFile(data) : nil)
        try structure?.check()
        if let plain = structure?.plainFile(data) {
            (data, structure) = (plain, GIFFile(plain))
        }
        try Self.refuseEarly(data, format, properties)
        let meaning = try isHEIF ? HEIFMeaning(data, format) : nil
        let image = try HEIFMeaning.reporting(meaning, format) {
            try VipsLoader.of(format).open(data)
        }
        if let properties, !image.hasAlpha, properties.hasAlpha {
            throw ImageCodingError.unsupported(format, reason: "its opacity cannot be read")
        }
        let stored = PixelSize(width: image.width, height: image.pageHeight)
        let orientation = image.orientation(in: format)
        var header = ImageHeader(
            format: format, size: stored.turned(by: orientation), hasAlpha: image.hasAlpha,
            depth: image.isDeep ? .sixteen : .eight)
        header.storedSize = properties?.storedSize
        if format == .GIF || format == .WebP { header.timing = Self.timing(of: image) }
        self.init(
            data, header: header, orientation: orientation, meaning: meaning,
            structure: structure, image: Self.keepsImages ? image : nil)
    }

    /// Whether an image opened for its header is kept for the first decoding of its first frame, which need not parse
    /// the file again. Set in workers, before the first file, for they have one file open and decode most of them at
    /// once. Elsewhere each picture that is not rendered yet would hold the state of a codec.
    nonisolated(unsafe) static var keepsImages = false

    /// Throws for files whose kind can be told by a few bytes, and that libvips would refuse in words of
    /// its own, or take.
    private static func refuseEarly(
        _ data: Data, _ format: ImageFormat, _ properties: HEIFProperties?
    ) throws {
        switch format {
        case .JPEG:
            if let refusal = JPEGFrame(data)?.refusal {
                throw ImageCodingError.unsupported(.JPEG, reason: refusal)
            }
        case .TIFF:
            if let refusal = TIFFHeader(data)?.refusal {
                throw ImageCodingError.unsupported(.TIFF, reason: refusal)
            }
        case .AVIF, .HEIC:
            let longest = HEIFProperties.longestReadableSide
            if let size = properties?.largestSize, size.longestSide > longest {
                throw ImageCodingError.tooManyPixels(size, limit: longest * longest)
            }
            let brands = data.withUnsafeBytes { ISOMediaBrands($0)?.brands }
            if let brand = brands?.first, HEIFProperties.sequenceBrands.contains(brand) {
                throw ImageCodingError.unsupported(format, reason: "it is a sequence of pictures")
            }
            if let refusal = HEIFReferences(data).refusal {
                throw ImageCodingError.corrupt(format, reason: refusal)
            }
        default:
            break
        }
    }

    /// The times of an animation, `nil` for a single frame.
    private static func timing(of image: VipsImage) -> AnimationTiming? {
        let delays = image.ints("delay") ?? []
        return AnimationTiming(
            stored: (0..<image.pageCount).map {
                $0 < delays.count ? TimeInterval(delays[$0]) / 1000 : 0
            },
            loopCount: max(0, image.int("loop") ?? 0))
    }
}

/// A file that libvips reads: the whole of it, or the pixels of one that another decoder has opened.
struct OpenedByVips: OpenedImage {
    let header: ImageHeader
    private let data: Data
    let orientation: Int
    /// For a HEIF file.
    private let meaning: HEIFMeaning?
    /// The colours that a PNG or HEIF file states by numbers, where these win over a profile.
    let colours: ColourDescription?
    private let structure: GIFFile?
    private let image: UnreadImage?

    init(
        _ data: Data, header: ImageHeader, orientation: Int = 1, meaning: HEIFMeaning? = nil,
        structure: GIFFile? = nil, image: VipsImage? = nil
    ) {
        self.data = data
        self.header = header
        self.orientation = orientation
        self.meaning = meaning
        colours =
            header.format == .PNG
            ? data.withUnsafeBytes { ColourDescription(ofPNG: $0) } : meaning?.colours
        self.structure = structure
        self.image = image.map(UnreadImage.init)
    }

    /// Gives up the image that was opened for the header.
    func dropImage() { _ = image?.take() }

    /// Whether all pixels are in memory when they are handed on.
    var isHeldWhole: Bool { colours.map { !$0.isSRGB } ?? false }

    func isLeftToVips(_ size: DecodedSize) -> Bool { true }

    func decode(frame: Int, _ size: DecodedSize) throws -> DecodedPixels? {
        switch size {
        case .atLeast(let least): .pipeline(try pixels(frame: frame, atLeast: least))
        case .exactly(let reduction): try reduced(frame: frame, reduction).map { .pipeline($0) }
        }
    }

    func pixels(frame: Int, atLeast size: PixelSize?) throws -> VipsImage {
        if let index = structure?.firstDamagedFrame(upTo: frame, in: data) {
            throw ImageCodingError.corrupt(.GIF, reason: "the pixels of frame \(index) are damaged")
        }
        let loader = try VipsLoader.of(header.format)
        return try HEIFMeaning.reporting(meaning, header.format) {
            var image = try open(with: loader, frame: frame, leastSize: size)
            if let meaning { image = try meaning.apply(to: image) }
            let converted = try image.decodedToSRGB(alpha: header.hasAlpha, from: colours)
            guard image.orientation(in: header.format) > 1 else {
                // A field that is not obeyed must not be obeyed further on.
                return try converted.settingMetadata([], removing: ["orientation"])
            }
            // Turning reads the rows out of order.
            return try converted.copiedToMemory().orientationApplied()
        }
    }

    /// Decodes at a reduced size; `nil` if there is no special way. JPEG of best quality is decoded
    /// at twice the size first. PNG and TIFF with alpha that are much larger are averaged first.
    private func reduced(frame: Int, _ reduction: Reduction) throws -> VipsImage? {
        let size = reduction.size
        if header.hasAlpha, [.PNG, .TIFF].contains(header.format),
            VipsImage.isReducedByArea(header.size, to: size)
        {
            let image = try pixels(frame: frame, atLeast: nil)
            return try header.format.reporting { try image.reducedByArea(to: size) }
        }
        if [.HEIC, .AVIF].contains(header.format), size != header.size {
            return try reducedByRows(frame: frame, to: size)
        }
        guard header.format == .JPEG, reduction.quality == .best, size != header.size
        else { return nil }
        let least = PixelSize(width: 2 * size.width, height: 2 * size.height)
        let image = try pixels(frame: frame, atLeast: least)
        return try ImageFormat.JPEG.reporting { () throws(VipsError) in
            try image.resized(to: size.width, height: size.height)
        }
    }

    /// Resamples a file whose rows are stored in display order: in the stored colours, before they
    /// are converted.
    private func reducedByRows(frame: Int, to size: PixelSize) throws -> VipsImage? {
        guard colours?.hasStepsOfSRGB ?? true else { return nil }
        let loader = try VipsLoader.of(header.format)
        return try HEIFMeaning.reporting(meaning, header.format) {
            let image = try open(with: loader, frame: frame, leastSize: nil)
            guard var reduced = try image.reducedByRows(to: size) else { return nil }
            if let meaning { reduced = try meaning.apply(to: reduced) }
            return try reduced.decodedToSRGB(alpha: header.hasAlpha, from: colours)
        }
    }

    func frameReader() throws -> any FrameReader {
        switch header.format {
        case .GIF: try StripFrameReader(data, structure ?? GIFFile(data), header: header)
        case .WebP: try CanvasFrameReader(webP: data, header: header, orientation: orientation)
        default: throw ImageCodingError.unsupported(header.format, reason: "it has no frames")
        }
    }
}

extension OpenedByVips {
    /// Opens a frame at the smallest scale that the codec offers and that is not below `leastSize`.
    func open(
        with loader: VipsLoader, frame: Int, leastSize: PixelSize?
    ) throws(VipsError) -> VipsImage {
        if let leastSize, leastSize.width > 0, leastSize.height > 0 {
            for request in reductions(frame: frame, leastSize: leastSize) {
                let reduced = try loader.open(data, request)
                // Pixels come as stored; the least size is as shown.
                let least = leastSize.turned(by: reduced.orientation(in: header.format))
                if reduced.width >= least.width, reduced.pageHeight >= least.height {
                    return reduced
                }
            }
        }
        if frame == 0, let image = image?.take() { return image }
        return try loader.open(data, VipsLoader.Request(frame: frame))
    }

    /// The reduced requests to try, smallest size first.
    private func reductions(
        frame: Int, leastSize: PixelSize
    ) -> [VipsLoader.Request] {
        let factor = min(
            Double(header.size.width) / Double(leastSize.width),
            Double(header.size.height) / Double(leastSize.height))
        guard factor > 1 else { return [] }
        switch header.format {
        case .JPEG:
            // A little more than the quotient says is tried: the codec rounds sizes up.
            return [8, 4, 2].filter { Double($0) <= factor * 1.01 }
                .map { VipsLoader.Request(frame: frame, shrink: $0) }
        case .WebP where header.timing == nil, .SVG, .PDF:
            // Sizes are rounded to the nearest, so that half a pixel may be missing.
            let margin = 0.5 / Double(min(header.size.width, header.size.height))
            return [1 / factor, 1 / factor + margin].filter { $0 < 1 }
                .map { VipsLoader.Request(frame: frame, scale: $0) }
        default:
            return []
        }
    }
}

/// An image of the first frame in full size, whose pixels can be read once.
private final class UnreadImage: Sendable {
    private let image: Mutex<VipsImage?>

    init(_ image: VipsImage) { self.image = Mutex(image) }

    func take() -> VipsImage? { image.withLock { $0.take() } }
}

/// Reads the frames of unusual GIF files off the strip of all frames, which libvips decodes as far as it is read.
///
/// Keeps a canvas and a few rows, not the strip.
struct StripFrameReader: FrameReader {
    private(set) var position = 0

    private let data: Data
    private let size: PixelSize
    private let structure: GIFFile
    private let strip: VipsImage

    init(_ data: Data, _ structure: GIFFile, header: ImageHeader) throws {
        self.data = data
        self.structure = structure
        size = header.size
        let loader = try VipsLoader.of(.GIF)
        strip = try ImageFormat.GIF.reporting { () throws(VipsError) in
            try loader.open(data, VipsLoader.Request(allFrames: true))
                .decodedToSRGB(alpha: header.hasAlpha)
        }
        guard strip.width == size.width, strip.height == size.height * header.frameCount,
            structure.frames.count >= header.frameCount
        else {
            throw ImageCodingError.corrupt(.GIF, reason: "frames are missing")
        }
    }

    mutating func frame(_ index: Int) throws -> Bitmap {
        for next in position...index where !structure.isIntact(frame: next, in: data) {
            throw ImageCodingError.corrupt(.GIF, reason: "the pixels of frame \(next) are damaged")
        }
        position = index + 1
        return try ImageFormat.GIF.reporting {
            try Bitmap(
                rendering: strip.cropped(
                    left: 0, top: index * size.height, width: size.width, height: size.height))
        }
    }
}
