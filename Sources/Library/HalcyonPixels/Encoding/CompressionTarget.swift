public import Foundation

/// The size or the likeness that a file is to have; the quality is searched for.
///
///     let file = try photo.kf.data(format: .JPEG, target: .bytes(100_000))
///     print(file.data.count, "bytes at quality", file.quality)
///
/// The search makes at most five files, with qualities from 0.3 to 0.95.
public enum CompressionTarget: Hashable, Sendable {
    /// The best file of at most this many bytes.
    case bytes(Int)
    /// The smallest file whose structural similarity (SSIM) to the image is at least this: 1 for equal pixels; at 0.99
    /// hardly anybody sees a difference, at 0.95 many do.
    case ssim(Double)

    /// The formats that have a quality to be searched for, whether they are written on this machine or not.
    public static let formats: Set<ImageFormat> = [.JPEG, .WebP, .AVIF, .HEIC, .JPEGXL]
}

/// A file whose quality was found for a ``CompressionTarget``.
public struct CompressedImage: Sendable {
    public let data: Data
    /// The quality of the file, 0.3…0.95.
    public let quality: CGFloat
    /// The mean structural similarity of its luminance to that of the image, of an animation that of the first frame;
    /// 1 for equal pixels.
    public let ssim: Double
}

extension Image {
    /// The image as a file that reaches `target`; an animation with all frames as WebP, with its first in other
    /// formats.
    ///
    /// - Throws: `ImageCodingError`; `encodingFailed` also for formats without a quality, and for a target that no
    ///   quality reaches.
    package func compressed(
        as format: ImageFormat, to target: CompressionTarget, options: ImageEncodingOptions
    ) throws -> CompressedImage {
        guard CompressionTarget.formats.contains(format), !options.isLossless else {
            throw ImageCodingError.encodingFailed(format, reason: "it has no quality to search for")
        }
        guard ImageEncoders.canEncode(format) else {
            throw ImageCodingError.unsupported(format, reason: "no encoder for it is installed")
        }
        if case .ssim(let least) = target, !(0...1).contains(least) {
            throw ImageCodingError.encodingFailed(format, reason: "no similarity is \(least)")
        }
        let timing = format == .WebP ? animation : nil
        let frames = timing == nil ? [try bitmap()] : try allBitmaps()
        func similarity(_ data: Data) throws -> Double {
            try frames[0].structuralSimilarity(to: Self.written(data))
        }
        var search = QualitySearch(isMost: target.isMost)
        var options = options
        var best: (data: Data, quality: CGFloat, ssim: Double?)?
        var reason = ""
        while let quality = search.next() {
            options.quality = quality
            let data = try ImageEncoders.encode(
                frames, timing: timing, as: format, options: options)
            let distance: Double
            var ssim: Double?
            switch target {
            case .bytes(let most):
                distance = log(Double(data.count) / Double(max(1, most)))
                reason = "at quality \(quality) it has \(data.count) bytes, more than \(most)"
            case .ssim(let least):
                let found = try similarity(data)
                distance = log(max(1 - least, 1e-9) / max(1 - found, 1e-9))
                let text = String(format: "%.4f", found)
                reason = "at quality \(quality) its SSIM is \(text), less than \(least)"
                ssim = found
            }
            if search.note(distance) { best = (data, quality, ssim) }
        }
        guard let best else { throw ImageCodingError.encodingFailed(format, reason: reason) }
        return CompressedImage(
            data: best.data, quality: best.quality, ssim: try best.ssim ?? similarity(best.data))
    }

    /// The first frame of a file of our own.
    private static func written(_ data: Data) throws -> Bitmap {
        let limits = DecodingLimits(
            maximumPixelCount: nil, maximumMemory: nil, maximumDuration: nil)
        let options = ImageCreatingOptions(onlyFirstFrame: true, limits: limits)
        return try Image.rendering(data, options: options).bitmap()
    }
}

extension CompressionTarget {
    /// Whether the target is the most that is allowed; otherwise it is the least.
    fileprivate var isMost: Bool {
        if case .bytes = self { true } else { false }
    }
}

/// The search for a quality, in hundredths.
///
/// Over the quality, the logarithms of the bytes and of the difference from a similarity of 1 are nearly straight
/// lines. The second try follows the usual slope. The third is an end of the range if the others were on one side of
/// the target, so that no target is given up that can be reached. Those in between two are regula falsi (Illinois).
private struct QualitySearch {
    private static let range = 30...95
    private static let mostTries = 5
    /// The usual growth of the logarithms with each hundredth.
    private static let slope = 0.03
    /// Close enough to the target, as a logarithm.
    private static let tolerance = 0.02

    /// Whether files below the target reach it, and not those above.
    let isMost: Bool
    /// The nearest tries on both sides, and the logarithms of their distances from the target.
    private var below: (step: Int, distance: Double)?
    private var above: (step: Int, distance: Double)?
    private var step = 0
    private var tries = 0
    private var wasBelow: Bool?
    private var isDone = false

    init(isMost: Bool) { self.isMost = isMost }

    /// The next quality to try; `nil` at the end.
    mutating func next() -> CGFloat? {
        guard !isDone, tries < Self.mostTries, let step = nextStep else { return nil }
        tries += 1
        self.step = step
        return CGFloat(step) / 100
    }

    private var nextStep: Int? {
        let (lowest, highest) = (Self.range.lowerBound, Self.range.upperBound)
        switch (below, above) {
        case (nil, nil): return 75
        case (let low?, nil):
            if low.step == highest { return nil }
            let rise = Int((-low.distance / Self.slope).rounded(.up))
            return tries > 1 ? highest : min(highest, low.step + max(1, rise))
        case (nil, let high?):
            if high.step == lowest { return nil }
            let fall = Int((high.distance / Self.slope).rounded(.up))
            return tries > 1 ? lowest : max(lowest, high.step - max(1, fall))
        case (let low?, let high?):
            if high.step - low.step == 1 { return nil }
            let part = low.distance / (low.distance - high.distance)
            let guess = Double(low.step) + part * Double(high.step - low.step)
            let step = Int(guess.rounded(isMost ? .down : .up))
            return min(max(step, low.step + 1), high.step - 1)
        }
    }

    /// Notes the distance of the last try; returns whether it reaches the target.
    mutating func note(_ distance: Double) -> Bool {
        let isGood = isMost ? distance <= 0 : distance >= 0
        let isBelow = isGood == isMost
        // An end that stays is taken for nearer each time.
        if isBelow {
            below = (step, distance)
            if wasBelow == true { above?.distance /= 2 }
        } else {
            above = (step, distance)
            if wasBelow == false { below?.distance /= 2 }
        }
        wasBelow = isBelow
        isDone = isGood && abs(distance) <= Self.tolerance
        return isGood
    }
}
