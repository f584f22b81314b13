import Vips

extension Image {
    /// The image with 8 bits for each sample, itself if it has no more.
    package func withEightBits() -> Image {
        depth == .eight ? self : changing { image, _ in try image.withEightBits() }
    }
}

extension VipsImage {
    func withEightBits() throws -> VipsImage {
        guard format == .ushort else { return self }
        return try linear(multiply: [1 / 257.0], add: [0]).rounded(to: .uchar)
            .interpreted(as: .srgb)
    }
}
