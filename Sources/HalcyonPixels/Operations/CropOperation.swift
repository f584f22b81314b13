package import Foundation
import Vips

/// A rectangle of whole pixels that lies inside the input.
struct CropOperation: ImageOperation {
    let left: Int
    let top: Int
    let size: PixelSize

    init(_ rect: CGRect, scale: CGFloat, inside bounds: PixelSize) {
        let wanted = PixelSize(points: rect.size, scale: scale)
        size = PixelSize(
            width: min(wanted.width, bounds.width), height: min(wanted.height, bounds.height))
        left = Self.place(rect.minX * scale, gap: bounds.width - size.width)
        top = Self.place(rect.minY * scale, gap: bounds.height - size.height)
    }

    /// The nearest whole pixel, the lower one where two are equally near.
    private static func place(_ offset: CGFloat, gap: Int) -> Int {
        offset > 0 ? Int(min((offset - 0.5).rounded(.up), CGFloat(gap))) : 0
    }

    func outputSize(for input: PixelSize) -> PixelSize { size }

    func apply(to image: VipsImage, input: PixelSize) throws -> VipsImage {
        try image.cropped(left: left, top: top, width: size.width, height: size.height)
    }
}

extension Image {
    /// What lies in a rectangle, given in points. Its sides and then its place are rounded to whole pixels.
    package func cropped(to rect: CGRect) -> Image {
        let operation = CropOperation(rect, scale: scale, inside: pixelSize)
        return operation.size == pixelSize ? self : applying(operation)
    }
}
