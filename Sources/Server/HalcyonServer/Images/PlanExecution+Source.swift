import Foundation
import Halcyon
import HalcyonPixels
import HalcyonServerURLs

extension PlanExecution {
    /// A source whose header has been read, and which is within the limits.
    struct Source {
        private(set) var image: Image
        let format: ImageFormat
        /// Frames that are used.
        let frameCount: Int
        /// Whether a part of it is missing.
        let isTruncated: Bool
        private var data: Data
        /// Which codecs read it.
        private let coding: DirectCoding

        init(
            _ data: Data, options: ProcessingOptions, rules: PictureRules
        ) throws {
            format = ImageSniffer.format(of: data)
            if format == .SVG, rules.svg == .refuse {
                throw Failure(.sourceFormat, "SVG drawings are not served")
            }
            try rules.check(sourceBytes: data.count, options)
            if format == .SVG { try SVGSanitizer.check(bytes: data.count) }
            let completed = rules.acceptsTruncated ? TruncatedJPEG.completed(data) : nil
            isTruncated = completed != nil
            self.data = completed ?? data
            // Our own reader of JPEG takes nothing but whole files.
            coding =
                isTruncated
                ? DirectCoding(formats: [], skipsJPEGCoefficients: false) : DirectCoding.current
            image = try Self.image(self.data, coding, rules.decodingLimits(for: options))
            if format == .SVG { try SVGSanitizer.check(image) }
            let most = options.limits.frames ?? rules.maxFrames
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
            let framePixels = options.limits.framePixels ?? rules.maxFramePixels
            if frameCount > 1, let framePixels {
                guard pixels <= framePixels else {
                    throw Failure(
                        .sourceTooComplex,
                        "A frame of the source has more than \(framePixels) pixels")
                }
                return
            }
            let limit = options.limits.sourcePixels ?? rules.maxPixels
            guard pixels <= limit / frameCount else {
                throw Failure(.sourceTooComplex, "The source has more than \(limit) pixels")
            }
        }

        /// The orientation of EXIF that takes back what has been applied.
        var inverseOrientation: Int {
            switch Image.orientation(of: data) {
            case 6: 8
            case 8: 6
            case let orientation: orientation
            }
        }

        /// Leaves the colours as they are stored, where they and the profile that says what they mean can be
        /// written into the result, and returns that profile. Otherwise colours are converted to sRGB.
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

        /// The picture that the steps begin with: of so many frames, the first of the source.
        func start(frames: Int, limits: DecodingLimits) throws -> Image {
            guard let timing = image.animation else { return image }
            if frames == 1 {
                return try Self.image(data, coding, limits, onlyFirstFrame: true)
            }
            // Decoding all at once counts the pixels of all as one picture's.
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

    /// What a picture is written as.
    struct FormatChoice {
        let format: OutputFormat
        let sourceFormat: OutputFormat
        /// Whether all frames are written.
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
                    throw Failure(
                        .formatUnsupported, "\(wanted.rawValue) cannot be written here")
                }
                format = wanted
            } else {
                format =
                    (isAnimation ? accepted.animated : accepted.still)
                    ?? Self.usual(source, sourceFormat, options, rules)
            }
            isAnimated = isAnimation && format.holdsAnimation
        }

        /// The source's own format where that is one of the preferred ones, otherwise the first of these
        /// that can hold it.
        private static func usual(
            _ source: Source, _ sourceFormat: OutputFormat, _ options: ProcessingOptions,
            _ rules: PictureRules
        ) -> OutputFormat {
            let preferred = rules.preferredFormats.filter(OutputFormat.writable.contains)
            if preferred.contains(sourceFormat) { return sourceFormat }
            let isOnCanvas =
                options.extend != nil || options.extendAspectRatio != nil
                || options.padding != ProcessingOptions.Padding()
            let needsAlpha =
                (source.image.hasAlpha || isOnCanvas) && options.background == nil
            let needsFrames = source.frameCount > 1
            return preferred.first {
                (!needsAlpha || $0.holdsAlpha) && (!needsFrames || $0.holdsAnimation)
            } ?? preferred.first { !needsAlpha || $0.holdsAlpha } ?? .png
        }
    }
}

/// What a client takes of the modern formats; `nil` when it names none.
struct AcceptedFormats: Sendable, Hashable {
    var still: OutputFormat?
    var animated: OutputFormat?
    /// For stills that are too small for that.
    var small: OutputFormat?

    /// A word of few, for keys.
    var variant: String {
        still == nil && animated == nil
            ? ""
            : [still, animated, small].map { $0?.rawValue ?? "-" }.joined(separator: "/")
    }
}
