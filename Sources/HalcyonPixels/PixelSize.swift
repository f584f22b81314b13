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
