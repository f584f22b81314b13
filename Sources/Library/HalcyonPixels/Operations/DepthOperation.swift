import Vips

struct DepthOperation: ImageOperation {
    func apply(to image: VipsImage, input: PixelSize) throws -> VipsImage {
        try image.withEightBits()
    }
}

extension Image {
    /// The image with 8 bits for each sample, itself if it has no more.
    package func withEightBits() -> Image {
        depth == .eight ? self : applying(DepthOperation())
    }
}

extension VipsImage {
    func withEightBits() throws -> VipsImage {
        guard format == .ushort else { return self }
        return try linear(multiply: [1 / 257.0], add: [0]).rounded(to: .uchar)
            .interpreted(as: .srgb)
    }
}
