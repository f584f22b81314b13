import Vips

struct TintOperation: ImageOperation {
    let color: Color

    func apply(to image: VipsImage, input: PixelSize) throws -> VipsImage {
        try image.painted(with: color)
    }
}

extension Image {
    /// The image with a colour composited over it (source-over, on sRGB values).
    package func overlaid(with color: Color) -> Image {
        applying(TintOperation(color: color))
    }
}
