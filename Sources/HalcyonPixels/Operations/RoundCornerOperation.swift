package import Foundation
import Vips

/// Opacity multiplied by the coverage of a rounded rectangle, on a background.
struct RoundCornerOperation: ImageOperation {
    /// In pixels.
    let radius: Double
    let corners: RectCorner
    let background: Color?

    func outputHasAlpha(for input: Bool) -> Bool { (background?.alpha ?? 0) < 1 }

    func apply(to image: VipsImage, input: PixelSize) throws -> VipsImage {
        let shape = RoundedRectangle(size: input, radius: radius, corners: corners)
        let mask = try CoverageMask(size: input, format: image.format, adding: shape).vipsImage()
        return try image.masked(by: mask).composited(over: background ?? .clear)
    }
}

extension Image {
    /// The image with rounded corners, outside of which one sees `background`, or nothing.
    ///
    /// - Parameter radius: In pixels; at most half of the shorter side is used.
    package func rounded(radius: CGFloat, corners: RectCorner, background: Color?) -> Image {
        applying(RoundCornerOperation(radius: radius, corners: corners, background: background))
    }
}
