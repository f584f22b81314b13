import Vips

/// A plain colour spread to a size, with layers drawn on it and its corners cut off.
struct CompositionOperation: ImageOperation {
    let size: PixelSize
    let layers: [CompositionLayer]
    /// In pixels.
    let cornerRadius: Double

    func outputSize(for input: PixelSize) -> PixelSize { size }

    func outputHasAlpha(for input: Bool) -> Bool { input || cornerRadius > 0 }

    func apply(to image: VipsImage, input: PixelSize) throws -> VipsImage {
        for size in [size] + layers.map(\.size) { try Self.check(size) }
        var picture = try image.embedded(
            left: 0, top: 0, width: size.width, height: size.height, extend: .copy)
        for layer in layers { picture = try layer.drawn(on: picture) }
        guard cornerRadius > 0 else { return picture }
        return try picture.masked(by: .roundedMask(size, radius: cornerRadius, like: picture))
    }

    /// Refuses what no file of that size would be decoded for either.
    private static func check(_ size: PixelSize) throws(ImageCodingError) {
        guard let limit = DecodingLimits.default.maximumPixelCount else { return }
        let (count, overflow) = size.width.multipliedReportingOverflow(by: size.height)
        if overflow || count > limit { throw .tooManyPixels(size, limit: limit) }
    }
}
