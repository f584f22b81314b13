import Foundation
import HalcyonPixels
import HalcyonServerURLs
import HalcyonWork

/// Makes a picture from a source's bytes by a plan. Blocks; belongs on the decoding pool.
///
/// The order of the steps is fixed: limits, trim, crop, resampling, turn, cut, filters,
/// canvas, padding, ground, watermark, encoding.
struct PlanExecution: PictureWork {
    struct Product: Sendable {
        let data: Data
        let format: ImageFormat
        let sourceFormat: ImageFormat
        let sourceSize: PixelSize
        let size: PixelSize
        var frameCount = 1
        var decoding = Duration.zero
        var encoding = Duration.zero
        var isTruncated = false
        /// Whether there was too little time for the intended format.
        var isSubstitute = false
    }

    let options: ProcessingOptions
    let accepted: AcceptedFormats
    let rules: PictureRules
    var watermark: WatermarkLayer?

    func run(
        _ data: Data, by deadline: ContinuousClock.Instant?,
        isWanted: @escaping @Sendable () -> Bool
    ) throws(Failure) -> Product {
        let start = rules.time.now
        return try Failure.ofPicture {
            var source = try Source(data, options: options, rules: rules)
            if source.format == .SVG, sendsDrawing {
                return try drawing(data, source.image.pixelSize, since: start)
            }
            let choice = try FormatChoice(source, options, accepted: accepted, rules)
            let size = source.image.pixelSize
            let side = options.limits.resultDimension ?? rules.limits.maxResultDimension
            if options.skipProcessing.contains(choice.sourceFormat), options.format == nil,
                max(size.width, size.height) <= side
            {
                try rules.check(resultBytes: data.count)
                return Product(
                    data: data, format: source.format, sourceFormat: source.format,
                    sourceSize: size, size: size, frameCount: source.frameCount)
            }
            try Self.check(isWanted)
            let turn = options.autoRotate ? 1 : source.inverseOrientation
            let profile = try source.takeProfile(options, for: choice.format, rules)
            let limit = min(side, choice.format.maximumSide ?? .max)
            let frames = choice.isAnimated ? source.frameCount : 1
            var image = try source.start(frames: frames, limits: rules.decodingLimits(for: options))
            image = try steps(on: image, isDrawing: source.format == .SVG, turn: turn, limit: limit)
            if !options.preserveHDR { image = image.withEightBits() }
            if !choice.isAnimated { _ = try image.bitmap() }
            let decoded = rules.time.now
            try Self.check(isWanted)
            let possible = choice.format.possible(
                for: image, otherwise: options.format == nil ? accepted.small : nil)
            // A format named in the URL has no substitute.
            let hasTime =
                options.format != nil || rules.hasTime(for: image, as: possible, by: deadline)
            let format = hasTime ? possible : accepted.small ?? (image.hasAlpha ? .png : .jpeg)
            let encoded = try encode(
                image, as: format, metadata: options.metadata(of: data), profile: profile,
                by: deadline, isWanted: isWanted)
            try rules.check(resultBytes: encoded.count)
            return Product(
                data: encoded, format: format.imageFormat, sourceFormat: source.format,
                sourceSize: source.image.pixelSize, size: image.pixelSize, frameCount: frames,
                decoding: decoded - start, encoding: rules.time.now - decoded,
                isTruncated: source.isTruncated, isSubstitute: !hasTime)
        }
    }

    /// Whether an SVG drawing is sent as such: never unchanged, since it could run and load things.
    private var sendsDrawing: Bool {
        switch options.format {
        case .svg: rules.svg == .sanitize
        case nil: rules.svg == .sanitize || options.skipProcessing.contains(.svg)
        default: false
        }
    }

    private func drawing(
        _ data: Data, _ size: PixelSize, since start: ContinuousClock.Instant
    ) throws(Failure) -> Product {
        let drawing = try SVGSanitizer.sanitized(data)
        try rules.check(resultBytes: drawing.count)
        return Product(
            data: drawing, format: .SVG, sourceFormat: .SVG, sourceSize: size, size: size,
            decoding: rules.time.now - start)
    }

    static func check(_ isWanted: () -> Bool) throws(Failure) {
        if !isWanted() { throw Failure(.clientGone, "nobody waits any longer") }
    }

    /// Crop and resampling come before the turn, so that a decoder can deliver a smaller picture;
    /// the crop's position refers to the turned picture.
    ///
    /// - Parameter turn: An EXIF orientation to apply, besides what the options say: the decoder
    ///   delivers pictures upright.
    private func steps(on image: Image, isDrawing: Bool, turn: Int, limit: Int) throws -> Image {
        var image = options.trim.map { image.trimmed(TrimRule($0)) } ?? image
        let stored = Dimensions(image.pixelSize)
        var options = options
        options.autoRotate = true
        let geometry = Geometry(
            source: stored, orientation: turn, options: options, limit: limit,
            isVector: isDrawing)
        let turn = geometry.turn
        if let crop = geometry.crop {
            image = image.cut(
                to: turn.turned(crop.size),
                at: crop.position.map { position in
                    turn.stored(
                        Region(
                            x: position.x, y: position.y, width: crop.size.width,
                            height: crop.size.height), in: stored
                    ).origin
                })
        }
        let scaled = PixelSize(turn.turned(geometry.scaled))
        if scaled != image.pixelSize { image = image.resized(to: scaled) }
        if turn.isMirrored { image = image.flipped(horizontally: true, vertically: false) }
        image = image.rotated(degrees: CGFloat(turn.quarters * 90), background: .clear)
        if let cut = geometry.cut { image = image.cut(to: cut.size, at: cut.position) }
        image = grounded(filtered(image), geometry)
        guard let watermark, let mark = options.watermark else { return image }
        return watermark.laid(over: image, mark, scale: geometry.scale)
    }

    private func filtered(_ image: Image) -> Image {
        var image = image
        if options.blur > 0 { image = image.gaussianBlurred(sigma: options.blur) }
        if options.sharpen > 0 { image = image.sharpened(sigma: options.sharpen) }
        return image.pixelated(side: options.pixelate)
    }

    /// Adds canvases and padding; flattens if there is a background colour.
    private func grounded(_ image: Image, _ geometry: Geometry) -> Image {
        let ground = options.background.map { Color($0) } ?? .clear
        var image = image
        for canvas in geometry.canvases {
            let size = image.pixelSize
            image = image.padded(
                top: canvas.position.y, left: canvas.position.x,
                bottom: canvas.size.height - canvas.position.y - size.height,
                right: canvas.size.width - canvas.position.x - size.width, background: ground)
        }
        let padding = geometry.padding
        image = image.padded(
            top: padding.top, left: padding.left, bottom: padding.bottom, right: padding.right,
            background: ground)
        guard options.background != nil, image.hasAlpha else { return image }
        return image.blended(.normal, alpha: 1, onto: ground)
    }

    /// Encodes within about the requested bytes: at most eight times, each with a lower quality.
    private func encode(
        _ image: Image, as format: OutputFormat, metadata: ImageMetadata?, profile: Data?,
        by deadline: ContinuousClock.Instant?, isWanted: () -> Bool
    ) throws -> Data {
        var quality = options.quality ?? options.formatQuality[format] ?? rules.quality(of: format)
        func attempt() throws -> Data {
            var encoding = rules.encoding(of: format, quality: quality)
            encoding.metadata = metadata
            encoding.profile = profile
            return try rules.encoded(image, as: format, encoding, by: deadline)
        }
        var data = try attempt()
        guard let most = options.maxBytes, format.isLossy else { return data }
        for _ in 0..<7 where data.count > most && quality > 10 {
            try Self.check(isWanted)
            let excess = Double(data.count) / Double(most)
            let factor = excess > 3 ? 0.25 : excess > 1.5 ? 0.5 : 0.75
            quality = max(1, min(quality - 1, Int(Double(quality) * factor)))
            data = try attempt()
        }
        return data
    }

    var mayUseThreadsOfEncoder: Bool {
        let format = options.format ?? accepted.still
        return format == .avif || format == .heic
    }

    /// The output format, as far as that is known before the source.
    var kind: String { (options.format ?? accepted.still)?.rawValue ?? "source" }

    /// Unsupported options: URLs with them are refused, as a wrong picture is worse than none.
    static let unavailable: Set<OptionName> = [.processors, .enforceThumbnail]
}

extension Image {
    /// Returns a part of the image; without a position, the most salient one.
    func cut(to size: Dimensions, at position: Position?) -> Image {
        guard let position else { return smartCropped(to: PixelSize(size)) }
        return cropped(
            to: CGRect(x: position.x, y: position.y, width: size.width, height: size.height))
    }
}

extension ProcessingOptions {
    /// Returns the part of a source's metadata that is kept.
    func metadata(of data: Data) throws -> ImageMetadata? {
        guard stripMetadata else { return try ImageMetadata(reading: data) }
        // Unreadable metadata says nothing about rights.
        return keepCopyright ? (try? ImageMetadata(reading: data))?.rights : nil
    }
}

extension TrimRule {
    fileprivate init(_ trim: ProcessingOptions.Trim) {
        self.init(
            threshold: trim.threshold, color: trim.colour.map { Color($0) },
            isEvenHorizontally: trim.equalHorizontally, isEvenVertically: trim.equalVertically)
    }
}

extension PixelSize {
    init(_ size: Dimensions) { self.init(width: size.width, height: size.height) }
}

extension Dimensions {
    init(_ size: PixelSize) { self.init(width: size.width, height: size.height) }
}

extension OutputFormat {
    /// Returns this format, or for images that are too small for it another one, by default PNG or JPEG.
    func possible(for image: Image, otherwise other: OutputFormat? = nil) -> OutputFormat {
        let size = image.pixelSize
        guard min(size.width, size.height) < minimumSide else { return self }
        return other ?? (image.hasAlpha ? .png : .jpeg)
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
        case .tooManyPixels, .tooMuchMemory, .tooSlow, .tooComplex, .tooManyFrames:
            kind = .sourceTooComplex
        case .corrupt, .processing, .decoderStopped: kind = .sourceDamaged
        case .encodingFailed: kind = .internalError
        }
        self.init(kind, error.description)
        switch error {
        case .tooMuchMemory: lacksMemory = true
        case .decoderStopped: hasStoppedDecoder = true
        default: break
        }
    }

    /// Returns the result of `work` on a picture; its error is thrown as a failure.
    static func ofPicture<Value>(_ work: () throws -> Value) throws(Failure) -> Value {
        do {
            return try work()
        } catch let failure as Failure {
            throw failure
        } catch let shortage as LargeMemory.Shortage {
            throw Failure(shortage)
        } catch let error as ImageCodingError {
            // A library without enough memory fails as if the picture were broken.
            try Failure.withRoom { () throws(LargeMemory.Shortage) in
                try LargeMemory.check(1 << 20)
            }
            throw Failure(error)
        } catch {
            throw Failure(.internalError, "The picture could not be made", cause: "\(error)")
        }
    }
}
