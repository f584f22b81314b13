package import Foundation
import Vips

/// A blur of the samples in memory, in the depth they have.
struct BlurOperation: ImageOperation {
    /// In pixels.
    let radius: Double

    func apply(to image: VipsImage, input: PixelSize) throws -> VipsImage {
        try BoxBlur(radius: radius).apply(to: image)
    }
}

extension Image {
    /// The image blurred, close to a Gaussian with a standard deviation of `radius` pixels, at least 2.
    package func blurred(radius: CGFloat) -> Image {
        applying(BlurOperation(radius: radius))
    }
}
