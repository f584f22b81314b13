package import Foundation
import Vips

/// A colour painted through a mask: a rectangle, less the one inside of the line.
struct BorderOperation: ImageOperation {
    /// In pixels.
    let lineWidth: Double
    /// Of the middle of the line, in pixels.
    let radius: Double
    let corners: RectCorner
    let color: Color

    func apply(to image: VipsImage, input: PixelSize) throws -> VipsImage {
        // A wider line than this could not be seen.
        let half = min(max(0, lineWidth) / 2, Double(input.longestSide))
        let middle = RoundedRectangle(size: input, inset: half, radius: radius, corners: corners)
        let mask = CoverageMask(
            size: input, format: image.format, adding: middle.expanded(by: half),
            subtracting: middle.expanded(by: -half))
        return try image.painted(with: color, through: mask.vipsImage())
    }
}

extension Image {
    /// The image with a line along its edges, inside of them.
    ///
    /// - Parameters:
    ///   - lineWidth: In pixels.
    ///   - radius: Of the middle of the line at the corners that are rounded, in pixels.
    package func bordered(
        lineWidth: CGFloat, radius: CGFloat, corners: RectCorner, color: Color
    ) -> Image {
        applying(
            BorderOperation(lineWidth: lineWidth, radius: radius, corners: corners, color: color))
    }
}
