import DirectCodecs
public import Foundation

/// A size in whole pixels.
public struct PixelSize: Hashable, Sendable {
    public var width: Int
    public var height: Int

    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// `size` points at `scale` pixels per point, rounded to whole pixels, at least 1×1.
    public init(points size: CGSize, scale: CGFloat) {
        width = Self.length(size.width * scale)
        height = Self.length(size.height * scale)
    }

    /// `length` rounded to whole pixels, between 1 and the 10 million that libvips can address.
    package static func length(_ length: CGFloat) -> Int {
        length.isNaN ? 1 : Int(min(max(1, length.rounded()), 10_000_000))
    }

    /// Width times height.
    public var pixelCount: Int { width * height }

    /// The larger of width and height.
    public var longestSide: Int { max(width, height) }

    /// This size in points, at `scale` pixels per point.
    public func points(scale: CGFloat) -> CGSize {
        CGSize(width: CGFloat(width) / scale, height: CGFloat(height) / scale)
    }

    /// Width and height exchanged.
    public var transposed: PixelSize { PixelSize(width: height, height: width) }
}

extension PixelSize {
    /// The size as shown of pixels stored in this size, and the other way round.
    ///
    /// - Parameter orientation: Of EXIF, 1…8.
    func turned(by orientation: Int) -> PixelSize {
        PixelTurning.exchangesSides(orientation) ? transposed : self
    }
}

struct Reduction: Hashable, Sendable {
    /// The size of the result, as shown.
    let size: PixelSize
    let quality: DownsamplingQuality
}

/// The amount of detail kept when a file is decoded at a smaller size.
public enum DownsamplingQuality: String, Hashable, Sendable, CaseIterable {
    /// Decodes at least at twice the size, where the file has so much, and resamples the rest with
    /// Lanczos: the result differs invisibly from resampling all pixels with Lanczos.
    case best
    /// Decodes at the smallest size that is not below the one asked for: up to half the time of `best`,
    /// and a little softer. Makes a difference for JPEG.
    case fast
}

extension Int {
    /// The sum, or the greatest number if it is larger than that.
    func clampedPlus(_ other: Int) -> Int {
        let (sum, isTooLarge) = addingReportingOverflow(other)
        return isTooLarge ? .max : sum
    }

    /// The product, or the greatest number if it is larger than that.
    func clampedTimes(_ other: Int) -> Int {
        let (product, isTooLarge) = multipliedReportingOverflow(by: other)
        return isTooLarge ? .max : product
    }
}
