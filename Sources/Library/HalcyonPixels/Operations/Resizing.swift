package import Foundation
import Vips

extension ImageOperation {
    /// Resampling to a size in pixels. A first step lets the decoder deliver about that size.
    static func resizing(
        to size: PixelSize, quality: DownsamplingQuality = .best
    ) -> ImageOperation {
        ImageOperation(size: size, quality: quality) { image, _ in
            guard image.format == .ushort, !image.hasAlpha else {
                return try image.resized(to: size.width, height: size.height)
            }
            // libvips weighs 16-bit integers with 12-bit factors, which shifts even a flat colour.
            return try image.cast(to: .float).resized(to: size.width, height: size.height)
                .quantized(like: image)
        }
    }
}

extension Image {
    /// The image resampled to exactly `size`.
    ///
    /// - Parameter quality: How well a file is decoded at that size, when this is the first step.
    package func resized(
        to size: PixelSize, quality: DownsamplingQuality = .best
    ) -> Image {
        applying(.resizing(to: size, quality: quality))
    }

    /// The part of the image in a rectangle, in points. Its size, then its position, is rounded to
    /// whole pixels.
    package func cropped(to rect: CGRect) -> Image {
        let size = pixelSize.clipping(PixelSize(points: rect.size, scale: scale))
        // The nearest whole pixel, the lower one where two are equally near.
        func place(_ offset: CGFloat, gap: Int) -> Int {
            offset > 0 ? Int(min((offset - 0.5).rounded(.up), CGFloat(gap))) : 0
        }
        return cropped(
            left: place(rect.minX * scale, gap: pixelSize.width - size.width),
            top: place(rect.minY * scale, gap: pixelSize.height - size.height), size: size)
    }
}

/// The scaling of a picture to a size with other proportions.
public enum ContentMode: Sendable {
    /// Exactly the size; the picture is distorted.
    case none
    /// As large as possible inside the size.
    case aspectFit
    /// As small as possible with the size covered.
    case aspectFill
}

extension ContentMode {
    /// A size brought to `target`. A side that is derived of the other is a whole number.
    package func size(of source: CGSize, in target: CGSize) -> CGSize {
        if self == .none { return target }
        let aspectRatio = source.height == 0 ? 1 : source.width / source.height
        let atHeight = (aspectRatio * target.height).rounded()
        let keepsWidth =
            self == .aspectFit ? atHeight > target.width : atHeight < target.width
        return keepsWidth
            ? CGSize(width: target.width, height: (target.width / aspectRatio).rounded())
            : CGSize(width: atHeight, height: target.height)
    }
}
