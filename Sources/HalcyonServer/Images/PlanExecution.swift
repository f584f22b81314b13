import Foundation
import Halcyon
import HalcyonPixels
import HalcyonServerPlans

/// Makes a picture of a source's bytes as a plan says. Blocks; belongs on the decoding pool.
///
/// The order of the steps is fixed: limits, crop, resampling, cut, filters, ground, encoding.
struct PlanExecution: Sendable {
    /// What came of it.
    struct Product: Sendable {
        let data: Data
        let format: ImageFormat
        let sourceFormat: ImageFormat
        let sourceSize: PixelSize
        let size: PixelSize
        let frameCount: Int
        let decoding: Duration
        let encoding: Duration
    }

    let options: ProcessingOptions
    /// Modern formats that the client takes.
    let accepted: AcceptedFormats
    let rules: PictureRules
    /// Asked before each step: whether anybody still waits.
    let isWanted: @Sendable () -> Bool

    func run(_ data: Data) throws(Failure) -> Product {
        let start = ContinuousClock.now
        do {
            try checkArguments()
            let source = try Source(data, options: options, rules: rules)
            let choice = try FormatChoice(source, options, accepted: accepted, rules)
            if options.skipProcessing.contains(choice.sourceFormat), options.format == nil {
                return Product(
                    data: data, format: source.format, sourceFormat: source.format,
                    sourceSize: source.image.pixelSize, size: source.image.pixelSize,
                    frameCount: source.frameCount, decoding: .zero, encoding: .zero)
            }
            try checkWanted()
            let limit = min(
                options.limits.resultDimension ?? rules.maxResultDimension,
                choice.format.maximumSide ?? .max)
            let frames = choice.isAnimated ? source.frameCount : 1
            var image = try source.start(frames: frames, limits: rules.decodingLimits)
            image = try steps(on: image, isDrawing: source.format == .SVG, limit: limit)
            if !choice.isAnimated { _ = try image.bitmap() }
            let decoded = ContinuousClock.now
            try checkWanted()
            let format = choice.format.possible(for: image)
            let encoded = try encode(image, as: format, metadata: metadata(of: data))
            guard encoded.count <= rules.maxResultBytes else {
                throw Failure(
                    .sourceTooComplex, "The result has more than \(rules.maxResultBytes) bytes")
            }
            return Product(
                data: encoded, format: format.imageFormat, sourceFormat: source.format,
                sourceSize: source.image.pixelSize, size: image.pixelSize, frameCount: frames,
                decoding: decoded - start, encoding: .now - decoded)
        } catch let failure as Failure {
            throw failure
        } catch let error as ImageCodingError {
            throw Failure(error)
        } catch {
            throw Failure(.internalError, "The picture could not be made", cause: "\(error)")
        }
    }

    private func checkWanted() throws(Failure) {
        if !isWanted() { throw Failure(.clientGone, "nobody waits any longer") }
    }

    private func steps(on image: Image, isDrawing: Bool, limit: Int) throws -> Image {
        let size = image.pixelSize
        let geometry = Geometry(
            source: Dimensions(width: size.width, height: size.height), options: options,
            limit: limit, isVector: isDrawing)
        var image = image
        if let crop = geometry.crop { image = try image.cut(to: crop) }
        let scaled = PixelSize(width: geometry.scaled.width, height: geometry.scaled.height)
        if scaled != image.pixelSize { image = image.resized(to: scaled) }
        if let cut = geometry.cut { image = try image.cut(to: cut) }
        if options.blur > 0 { image = image.blurred(radius: options.blur) }
        if let colour = options.background, image.hasAlpha {
            image = image.blended(.normal, alpha: 1, onto: Color(colour))
        }
        return image
    }

    private func metadata(of data: Data) throws -> ImageMetadata? {
        options.stripMetadata ? nil : try ImageMetadata(reading: data)
    }

    /// Encodes within the size that was asked for, or nearly so: at most eight times, each with a lower
    /// quality.
    private func encode(
        _ image: Image, as format: OutputFormat, metadata: ImageMetadata?
    ) throws -> Data {
        var quality = options.quality ?? options.formatQuality[format] ?? rules.quality(of: format)
        func attempt() throws -> Data {
            try image.encoded(
                as: format.imageFormat,
                options: ImageEncodingOptions(
                    quality: CGFloat(quality - 1) / 99, metadata: metadata))
        }
        var data = try attempt()
        guard let most = options.maxBytes, format.isLossy else { return data }
        for _ in 0..<7 where data.count > most && quality > 10 {
            try checkWanted()
            let excess = Double(data.count) / Double(most)
            let factor = excess > 3 ? 0.25 : excess > 1.5 ? 0.5 : 0.75
            quality = max(1, min(quality - 1, Int(Double(quality) * factor)))
            data = try attempt()
        }
        return data
    }
}

extension PlanExecution {
    /// Options that nothing here can do: URLs with them are refused, since a picture that is not what was
    /// asked for would be worse than none.
    static let unavailable: Set<OptionName> = [
        .trim, .extend, .extendAspectRatio, .padding, .rotate, .flip, .autoRotate, .sharpen,
        .pixelate, .watermark, .processors, .keepCopyright, .stripColorProfile, .preserveHDR,
        .enforceThumbnail, .raw,
    ]

    /// The same of arguments of options that can be done otherwise.
    func checkArguments() throws(Failure) {
        if options.gravity == .smart || options.crop?.gravity == .smart {
            throw Failure(.unsupportedOption, "gravity:sm is not supported")
        }
        if options.blur > 0, options.blur < 2 {
            throw Failure(.unsupportedOption, "blur below 2 is not supported")
        }
    }
}

extension Image {
    fileprivate func cut(to window: Geometry.Window) throws(Failure) -> Image {
        guard let position = window.position else {
            throw Failure(.unsupportedOption, "gravity:sm is not supported")
        }
        return cropped(
            to: CGRect(
                x: position.x, y: position.y, width: window.size.width,
                height: window.size.height))
    }
}

extension OutputFormat {
    /// What a picture is written as that was to be written in this format: the encoders of AVIF and HEIC fail
    /// for pictures of fewer than 16 pixels a side.
    fileprivate func possible(for image: Image) -> OutputFormat {
        let size = image.pixelSize
        guard self == .avif || self == .heic, min(size.width, size.height) < 16 else { return self }
        return image.hasAlpha ? .png : .jpeg
    }
}

extension Color {
    fileprivate init(_ colour: RGBColor) {
        self.init(
            red: CGFloat(colour.red) / 255, green: CGFloat(colour.green) / 255,
            blue: CGFloat(colour.blue) / 255)
    }
}

extension Failure {
    init(_ error: ImageCodingError) {
        let kind: Kind
        switch error {
        case .emptyData, .unknownFormat, .unsupported: kind = .sourceFormat
        case .tooManyPixels, .tooMuchMemory, .tooSlow, .tooManyFrames: kind = .sourceTooComplex
        case .corrupt, .processing: kind = .sourceDamaged
        case .encodingFailed: kind = .internalError
        }
        self.init(kind, error.description)
    }
}
