import Foundation
import HalcyonPixels
import HalcyonServerURLs
import HalcyonWork

/// The JSON description of a source, made from its header where no field needs the pixels.
struct InfoDocument: Encodable, Sendable {
    /// Bytes.
    private var size: Int?
    private var format: String?
    private var mimeType: String?
    /// As shown, after EXIF.
    private var width: Int?
    private var height: Int?
    /// The EXIF orientation, 1…8; width and height are those after it.
    private var orientation: Int?
    private var pages: Int?
    /// In libvips's terms: `srgb`, `b-w`, `cmyk` …
    private var colorspace: String?
    /// The name of the colour profile.
    private var profile: String?
    private var bands: Int?
    private var hasAlpha: Bool?
    /// In libvips's terms: `uchar`, `ushort` …
    private var sampleFormat: String?
    private var exif: EXIFDocument?
    private var frames: Int?
    /// Milliseconds for each frame.
    private var delays: [Int]?
    /// The number of runs of the animation; 0 for endless.
    private var loop: Int?
    /// Milliseconds of one run.
    private var duration: Int?
    private var sha256: String?
    private var average: Components?
    private var dominantColors: [DominantColor]?
    /// The largest part of the picture first.
    private var palette: [String]?
    private var blurhash: String?
    /// In base 64.
    private var thumbhash: String?
    /// 16 hexadecimal digits.
    private var dhash: String?
    private var phash: String?

    /// A colour in four bytes.
    private struct Components: Encodable {
        let R, G, B, A: Int

        init(_ color: Color) {
            func byte(_ value: CGFloat) -> Int { Int((value * 255).rounded()) }
            (R, G, B, A) = (byte(color.red), byte(color.green), byte(color.blue), byte(color.alpha))
        }

        var hexadecimal: String {
            "#" + String(hexadecimal: [R, G, B].map { UInt8(clamping: $0) })
        }
    }

    private struct DominantColor: Encodable {
        /// In the manner of `#0a141e`.
        let color: String
        /// The part of the visible picture, 0…1, to four places.
        let share: Double
    }

    init(_ data: Data, fields: InfoFields, rules: PictureRules) throws(Failure) {
        self = try Failure.ofPicture {
            fields.needsPixels
                ? try InfoDocument(pixelsOf: data, fields, rules)
                : try InfoDocument(headerOf: data, fields, rules)
        }
        if fields.needsStoredHeader {
            takeStoredHeader(data, fields, isAllTold: rules.tellsPrivateMetadata)
        }
    }

    /// Without a limit of pixels: none is decoded.
    private init(headerOf data: Data, _ fields: InfoFields, _ rules: PictureRules) throws {
        var limits = rules.decodingLimits
        limits.maximumPixelCount = nil
        let image = try Image.decoding(data, options: ImageCreatingOptions(limits: limits))
        take(image, data, fields)
    }

    private init(pixelsOf data: Data, _ fields: InfoFields, _ rules: PictureRules) throws {
        let source = try PlanExecution.Source(data, options: ProcessingOptions(), rules: rules)
        take(source.image, data, fields)
        // The first frame of an animation, as it is shown.
        let image = try source.start(frames: 1, limits: rules.decodingLimits)
        let chosen = fields.fields
        if chosen.contains(.average) || chosen.contains(.dominantColors) {
            let colours = try image.palette(count: 5)
            if chosen.contains(.average) { average = Components(colours.average) }
            if chosen.contains(.dominantColors) {
                dominantColors = colours.swatches.map {
                    DominantColor(
                        color: Components($0.color).hexadecimal,
                        share: ($0.share * 10_000).rounded() / 10_000)
                }
            }
        }
        if let count = fields.palette {
            palette = try image.palette(count: count).colors.map { Components($0).hexadecimal }
        }
        if let size = fields.blurHash {
            blurhash = try image.blurHash(columns: size.columns, rows: size.rows).description
        }
        if chosen.contains(.thumbHash) { thumbhash = try image.thumbHash().description }
        if chosen.contains(.dHash) { dhash = try image.dHash().description }
        if chosen.contains(.pHash) { phash = try image.pHash().description }
    }

    /// Takes over the fields that the header tells.
    private mutating func take(_ image: Image, _ data: Data, _ fields: InfoFields) {
        let chosen = fields.fields
        if chosen.contains(.size) { size = data.count }
        if chosen.contains(.format) {
            let found = OutputFormat(ImageSniffer.format(of: data))
            format = found?.rawValue
            mimeType = found?.mediaType
        }
        if chosen.contains(.dimensions) {
            width = image.pixelSize.width
            height = image.pixelSize.height
            orientation = Image.orientation(of: data)
        }
        if chosen.contains(.pagesNumber) { pages = image.frameCount }
        if chosen.contains(.animation), let timing = image.animation {
            frames = image.frameCount
            delays = timing.durations.map { Int(($0 * 1000).rounded()) }
            loop = timing.loopCount
            duration = Int((timing.totalDuration * 1000).rounded())
        }
        if chosen.contains(.bands) { hasAlpha = image.hasAlpha }
        if fields.digest { sha256 = Digest.sha256.hexadecimal(data) }
    }

    private mutating func takeStoredHeader(_ data: Data, _ fields: InfoFields, isAllTold: Bool) {
        let chosen = fields.fields
        if chosen.contains(.colorSpace) {
            // The file has been opened; anything missing here is unknown.
            profile = (try? ImageInformation(of: data))?.colorProfile?.name
        }
        guard let header = StoredHeader(of: data) else { return }
        if chosen.contains(.colorSpace) { colorspace = header.colorSpace }
        if chosen.contains(.bands) { (bands, hasAlpha) = (header.bands, header.hasAlpha) }
        if chosen.contains(.sampleFormat) { sampleFormat = header.sampleFormat }
        if chosen.contains(.exif) { exif = EXIFDocument(header, isAll: isAllTold) }
    }

    /// With its members in alphabetical order.
    var json: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Texts and numbers can be encoded.
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }
}

extension ImageInformation.ColorProfile {
    /// The common name; `nil` where the file gives it no name.
    fileprivate var name: String? {
        switch self {
        case .icc(let name): name
        case .coded(primaries: 1, transfer: 13): "sRGB"
        case .coded(primaries: 12, transfer: 13): "Display P3"
        case .coded(let primaries, let transfer): "H.273 \(primaries)/\(transfer)"
        }
    }
}
