import Foundation
import HalcyonPixels
import HalcyonServerURLs

extension PlanExecution {
    /// A source whose header has been read, and which is within the limits.
    struct Source {
        private(set) var image: Image
        let format: ImageFormat
        let frameCount: Int
        let isTruncated: Bool
        private var data: Data
        private let coding: DirectCoding

        init(_ data: Data, options: ProcessingOptions, rules: PictureRules) throws {
            format = ImageSniffer.format(of: data)
            if format == .SVG, rules.svg == .refuse {
                throw Failure(.sourceFormat, "SVG drawings are not served")
            }
            try rules.check(sourceBytes: data.count, options)
            if format == .SVG { try SVGSanitizer.check(bytes: data.count) }
            let completed = rules.acceptsTruncated ? TruncatedJPEG.completed(data) : nil
            isTruncated = completed != nil
            self.data = completed ?? data
            // Our own JPEG reader takes whole files only.
            coding =
                isTruncated
                ? DirectCoding(formats: [], skipsJPEGCoefficients: false) : DirectCoding.current
            image = try Self.image(self.data, coding, rules.decodingLimits(for: options))
            if format == .SVG { try SVGSanitizer.check(image) }
            let most = options.limits.frames ?? rules.limits.maxFrames
            frameCount = min(image.frameCount, max(1, most))
            try checkPixels(options, rules)
        }

        private static func image(
            _ data: Data, _ coding: DirectCoding, _ limits: DecodingLimits,
            onlyFirstFrame: Bool = false
        ) throws -> Image {
            var options = ImageCreatingOptions(onlyFirstFrame: onlyFirstFrame, limits: limits)
            options.coding = coding
            return try Image.decoding(data, options: options)
        }

        private func checkPixels(
            _ options: ProcessingOptions, _ rules: PictureRules
        ) throws(Failure) {
            let pixels = image.pixelSize.pixelCount
            let framePixels = options.limits.framePixels ?? rules.limits.maxFramePixels
            if frameCount > 1, let framePixels {
                guard pixels <= framePixels else {
                    throw Failure(
                        .sourceTooComplex,
                        "A frame of the source has more than \(framePixels) pixels")
                }
                return
            }
            let limit = options.limits.sourcePixels ?? rules.limits.maxPixels
            guard pixels <= limit / frameCount else {
                throw Failure(.sourceTooComplex, "The source has more than \(limit) pixels")
            }
        }

        /// The EXIF orientation that undoes the applied one.
        var inverseOrientation: Int {
            switch Image.orientation(of: data) {
            case 6: 8
            case 8: 6
            case let orientation: orientation
            }
        }

        /// Keeps the colours as stored, where they and their profile can be written into the
        /// result, and returns that profile. Otherwise colours are converted to sRGB.
        mutating func takeProfile(
            _ options: ProcessingOptions, for format: OutputFormat, _ rules: PictureRules
        ) throws -> Data? {
            guard !options.stripColorProfile,
                ImageMetadata.profileFormats.contains(format.imageFormat),
                let taken = Image.takingProfile(from: data)
            else { return nil }
            data = taken.file
            image = try Self.image(data, coding, rules.decodingLimits(for: options))
            return taken.profile
        }

        /// Returns the picture for the first step: the first `frames` frames of the source.
        func start(frames: Int, limits: DecodingLimits) throws -> Image {
            guard let timing = image.animation else { return image }
            if frames == 1 { return try Self.image(data, coding, limits, onlyFirstFrame: true) }
            // Decoding all frames at once counts their pixels as one picture's.
            let most = (limits.maximumPixelCount ?? .max) / frames
            let bitmaps =
                frames == image.frameCount && image.pixelSize.pixelCount <= most
                ? try image.allBitmaps() : try (0..<frames).map { try image.bitmap(frame: $0) }
            let short = AnimationTiming(
                durations: Array(timing.durations.prefix(frames)), loopCount: timing.loopCount)
            guard let start = Image(frames: bitmaps, timing: short) else {
                throw Failure(.sourceDamaged, "The frames of the source differ in size")
            }
            return start
        }
    }

    struct FormatChoice {
        let format: OutputFormat
        let sourceFormat: OutputFormat
        let isAnimated: Bool

        init(
            _ source: Source, _ options: ProcessingOptions, accepted: AcceptedFormats,
            _ rules: PictureRules
        ) throws(Failure) {
            guard let sourceFormat = OutputFormat(source.format) else {
                throw Failure(.sourceFormat, "The source is of a kind that is not served")
            }
            self.sourceFormat = sourceFormat
            let isAnimation = source.frameCount > 1
            if let wanted = options.format {
                guard OutputFormat.writable.contains(wanted) else {
                    throw Failure(.formatUnsupported, "\(wanted.rawValue) cannot be written here")
                }
                format = wanted
            } else {
                format =
                    (isAnimation ? accepted.animated : accepted.still)
                    ?? Self.usual(source, sourceFormat, options, rules)
            }
            isAnimated = isAnimation && format.holdsAnimation
        }

        /// Returns the source's own format if that is preferred, otherwise the first preferred one
        /// that can hold the picture.
        private static func usual(
            _ source: Source, _ sourceFormat: OutputFormat, _ options: ProcessingOptions,
            _ rules: PictureRules
        ) -> OutputFormat {
            let preferred = rules.preferredFormats.filter(OutputFormat.writable.contains)
            if preferred.contains(sourceFormat) { return sourceFormat }
            let isOnCanvas =
                options.extend != nil || options.extendAspectRatio != nil
                || options.padding != ProcessingOptions.Padding()
            let needsAlpha = (source.image.hasAlpha || isOnCanvas) && options.background == nil
            let needsFrames = source.frameCount > 1
            return preferred.first {
                (!needsAlpha || $0.holdsAlpha) && (!needsFrames || $0.holdsAnimation)
            } ?? preferred.first { !needsAlpha || $0.holdsAlpha } ?? .png
        }
    }
}

/// The modern formats that a client accepts; `nil` where it names none.
struct AcceptedFormats: Sendable, Hashable {
    var still: OutputFormat?
    var animated: OutputFormat?
    /// For stills that are too small for ``still``.
    var small: OutputFormat?

    /// A short text for keys, one of a few.
    var variant: String {
        still == nil && animated == nil
            ? ""
            : [still, animated, small].map { $0?.rawValue ?? "-" }.joined(separator: "/")
    }
}
