package import Foundation
import Vips

/// `fraction × image + (1 − fraction) × colour` for each colour band; alpha stays.
struct OverlayOperation: ImageOperation {
    let color: Color
    let fraction: CGFloat

    func apply(to image: VipsImage, input: PixelSize) throws -> VipsImage {
        let paint = color.clamped
        let part = (1 - fraction.clamped) * paint.alpha
        return try image.mappingColor { colour in
            try colour.painted(with: Color(paint, alpha: part))
        }
    }
}

extension Image {
    /// The image mixed with a colour, of which it has the part `fraction`; its own opacity stays.
    package func mixed(with color: Color, fraction: CGFloat) -> Image {
        applying(OverlayOperation(color: color, fraction: fraction))
    }
}
