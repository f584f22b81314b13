import Foundation
import HalcyonPixels
import HalcyonServerURLs
import HalcyonWork
import Vips

/// The server's rules for pictures, independent of the URL.
///
/// A class, so that each picture's work holds them without a copy.
final class PictureRules: Sendable {
    let limits: ImageServerConfiguration.Limits
    let svg: ImageServerConfiguration.SVG
    let acceptsTruncated: Bool
    /// Whether information about a source includes private metadata, about places and people.
    let tellsPrivateMetadata: Bool
    let preferredFormats: [OutputFormat]
    /// The modern formats for clients that accept them.
    let negotiation: AcceptNegotiation
    let defaultOptions: ProcessingOptions
    let decodingLimits: DecodingLimits
    let writesProgressiveJPEG: Bool
    private let effort: [OutputFormat: Int]
    let pace = MeasuredAVIFPace()
    let time: TimeSource
    private let quality: Int
    private let formatQuality: [OutputFormat: Int]
    /// Changes whenever a step, an encoder or a setting may produce other bytes.
    private let epoch: String

    init(_ configuration: ImageServerConfiguration, time: TimeSource = .system) {
        self.time = time
        limits = configuration.limits
        let processing = configuration.processing
        svg = processing.svg
        acceptsTruncated = processing.truncated == .accept
        tellsPrivateMetadata = configuration.info.includesPrivateMetadata
        preferredFormats = processing.preferredFormats.compactMap(OutputFormat.init(urlName:))
        negotiation = AcceptNegotiation(
            formats: configuration.negotiation.formats.compactMap(OutputFormat.init(urlName:)))
        defaultOptions = processing.defaultOptions
        writesProgressiveJPEG = processing.writesProgressiveJPEG
        func byFormat(_ numbers: [String: Int]) -> [OutputFormat: Int] {
            let pairs = numbers.compactMap { name, number in
                OutputFormat(urlName: name).map { ($0, number) }
            }
            return Dictionary(pairs, uniquingKeysWith: { first, _ in first })
        }
        effort = byFormat(processing.effort)
        quality = processing.quality
        formatQuality = byFormat(processing.formatQuality)
        var decoding = DecodingLimits.default
        // Counted here, for all frames together.
        decoding.maximumPixelCount = max(limits.maxPixels, limits.maxFramePixels ?? 0)
        decoding.maximumMemory = min(limits.maxDecodingBytes, configuration.work.memory ?? .max)
        // Half of it, so that requests behind a picture that takes too long have some left, and
        // this one is answered, and remembered, as too complex before its own time is over.
        decoding.maximumDuration = configuration.work.requestTimeout / 2
        decodingLimits = decoding
        func text(_ table: [OutputFormat: Int]) -> String {
            table.map { "\($0.key.rawValue)=\($0.value)" }.sorted().joined(separator: ",")
        }
        let libraries = CodecLibrary.installed.map { "\($0.name) \($0.version)" }
        let parts =
            ["4", Vips.version, libraries.joined(separator: " ")] + [
                "\(limits.maxFrames)", "\(limits.maxResultDimension)", svg.rawValue,
                "\(acceptsTruncated)",
                preferredFormats.map(\.rawValue).joined(separator: ","),
                "\(writesProgressiveJPEG)", text(effort), "\(quality)", text(formatQuality),
            ]
        epoch = parts.joined(separator: " ")
    }

    /// Returns a function from a source's validator to the tag of a result.
    ///
    /// - Parameters:
    ///   - plan: One text for all plans that give the same result for a source.
    ///   - variant: Distinguishes results of a plan that the server has chosen between.
    func tag(plan: String, variant: String = "") -> @Sendable (_ validator: String) -> String {
        { [epoch] validator in
            ResultTag(source: validator, plan: plan, variant: variant, epoch: epoch).text
        }
    }

    /// Returns the limits for these options, which may raise the settings' where that is allowed.
    func decodingLimits(for options: ProcessingOptions) -> DecodingLimits {
        var decoding = decodingLimits
        decoding.maximumPixelCount = max(
            options.limits.sourcePixels ?? limits.maxPixels,
            options.limits.framePixels ?? limits.maxFramePixels ?? 0)
        return decoding
    }

    /// 1…100.
    func quality(of format: OutputFormat) -> Int { formatQuality[format] ?? quality }

    /// - Parameter quality: 1…100; `nil` for the default of the format.
    func encoding(of format: OutputFormat, quality: Int? = nil) -> ImageEncodingOptions {
        var options = ImageEncodingOptions(
            quality: CGFloat((quality ?? self.quality(of: format)) - 1) / 99)
        options.effort = effort[format]
        options.isProgressive = writesProgressiveJPEG
        options.storesGrey = true
        return options
    }

    func hasTime(
        for image: Image, as format: OutputFormat, by deadline: ContinuousClock.Instant?
    ) -> Bool {
        format != .avif || avifEffort(for: image, by: deadline) != nil
    }

    /// Encodes a picture; as AVIF with less effort where time is short.
    func encoded(
        _ image: Image, as format: OutputFormat, _ options: ImageEncodingOptions,
        by deadline: ContinuousClock.Instant?
    ) throws -> Data {
        guard format == .avif else {
            return try image.encoded(as: format.imageFormat, options: options)
        }
        var options = options
        let effort = avifEffort(for: image, by: deadline) ?? 0
        options.effort = effort
        let start = time.now
        let data = try image.encoded(as: format.imageFormat, options: options)
        pace.note(time.now - start, pixels: image.pixelsOfAllFrames, effort: effort)
        return data
    }

    private func avifEffort(for image: Image, by deadline: ContinuousClock.Instant?) -> Int? {
        pace.effort(
            upTo: effort[.avif] ?? 1, pixels: image.pixelsOfAllFrames,
            in: deadline.map { $0 - time.now })
    }

    /// - Throws: `Failure` when a source has more bytes than these options allow, which may raise
    ///   the limit of the settings where that is allowed.
    func check(sourceBytes: Int, _ options: ProcessingOptions) throws(Failure) {
        let limit = options.limits.sourceBytes ?? limits.maxSourceBytes
        guard sourceBytes <= limit else {
            throw Failure(.sourceTooLarge, "The source has more than \(limit) bytes")
        }
    }

    func check(resultBytes: Int) throws(Failure) {
        guard resultBytes <= limits.maxResultBytes else {
            throw Failure(
                .sourceTooComplex, "The result has more than \(limits.maxResultBytes) bytes")
        }
    }
}

extension Image {
    fileprivate var pixelsOfAllFrames: Int { pixelSize.pixelCount * max(1, frameCount) }
}

extension OutputFormat {
    init?(_ format: ImageFormat) {
        switch format {
        case .JPEG: self = .jpeg
        case .PNG: self = .png
        case .WebP: self = .webp
        case .AVIF: self = .avif
        case .GIF: self = .gif
        case .JPEGXL: self = .jxl
        case .TIFF: self = .tiff
        case .HEIC: self = .heic
        case .BMP: self = .bmp
        case .ICO: self = .ico
        case .SVG: self = .svg
        case .PDF, .unknown: return nil
        }
    }

    var imageFormat: ImageFormat {
        switch self {
        case .jpeg: .JPEG
        case .png: .PNG
        case .webp: .WebP
        case .avif: .AVIF
        case .gif: .GIF
        case .jxl: .JPEGXL
        case .tiff: .TIFF
        case .heic: .HEIC
        case .bmp: .BMP
        case .ico: .ICO
        case .svg: .SVG
        }
    }

    /// Whether a lower quality makes smaller files.
    var isLossy: Bool {
        switch self {
        case .jpeg, .webp, .avif, .jxl, .heic: true
        case .png, .gif, .tiff, .bmp, .ico, .svg: false
        }
    }

    /// The formats that can be written on this machine.
    static let writable = Set(ImageFormat.writable.compactMap { OutputFormat($0) })
}
