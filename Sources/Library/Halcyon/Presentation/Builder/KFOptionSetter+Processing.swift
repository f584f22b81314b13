public import Foundation

@MainActor extension KFOptionSetter {
    /// Sets the processor, in place of those before.
    public func setProcessor(_ processor: any ImageProcessor) -> Self {
        setting(\.processor, to: processor)
    }

    /// Replaces the processors by these, which run one after the other; an empty list means none.
    public func setProcessors(_ processors: [any ImageProcessor]) -> Self {
        guard let first = processors.first else {
            return setProcessor(DefaultImageProcessor.default)
        }
        return setProcessor(processors.dropFirst().reduce(first) { $0 |> $1 })
    }

    /// Adds a processor that runs after those before.
    public func appendProcessor(_ processor: any ImageProcessor) -> Self {
        setProcessor(options.processor |> processor)
    }

    /// Adds rounded corners.
    ///
    /// - Parameters:
    ///   - radius: At most half of the shorter side is used.
    ///   - targetSize: What the image is scaled to before, to fill it; `nil` leaves its size.
    ///   - roundingCorners: The other corners stay as they are.
    ///   - backgroundColor: Behind the corners; `nil` leaves them transparent.
    public func roundCorner(
        radius: Radius, targetSize: CGSize? = nil, roundingCorners: RectCorner = .all,
        backgroundColor: KFCrossPlatformColor? = nil
    ) -> Self {
        appendProcessor(
            RoundCornerImageProcessor(
                radius: radius, targetSize: targetSize, roundingCorners: roundingCorners,
                backgroundColor: backgroundColor))
    }

    /// Adds a Gaussian blur with a radius in points.
    public func blur(radius: CGFloat) -> Self {
        appendProcessor(BlurImageProcessor(blurRadius: radius))
    }

    /// Adds a layer of colour; at the `fraction` 0 it covers the image, at 1 it is not seen.
    public func overlay(color: KFCrossPlatformColor, fraction: CGFloat = 0.5) -> Self {
        appendProcessor(OverlayImageProcessor(overlay: color, fraction: fraction))
    }

    /// Adds a tint of the whole image.
    public func tint(color: KFCrossPlatformColor) -> Self {
        appendProcessor(TintImageProcessor(tint: color))
    }

    /// Takes the colours away.
    public func blackWhite() -> Self {
        appendProcessor(BlackWhiteProcessor())
    }

    /// Crops to `size` points; `anchor` is the point, in units of the image, that the crop keeps in
    /// its place.
    public func cropping(size: CGSize, anchor: CGPoint = CGPoint(x: 0.5, y: 0.5)) -> Self {
        appendProcessor(CroppingImageProcessor(size: size, anchor: anchor))
    }

    /// Decodes the image no larger than needed for `size` points: in place of the default processor,
    /// otherwise after those before.
    public func downsampling(size: CGSize) -> Self {
        let processor = DownsamplingImageProcessor(size: size)
        return options.processor.identifier.isEmpty
            ? setProcessor(processor) : appendProcessor(processor)
    }

    /// Adds scaling to `referenceSize` points.
    public func resizing(referenceSize: CGSize, mode: ContentMode = .none) -> Self {
        appendProcessor(ResizingImageProcessor(referenceSize: referenceSize, mode: mode))
    }

    /// Sets what turns images into bytes for the disk cache and back.
    public func serialize(by cacheSerializer: any CacheSerializer) -> Self {
        setting(\.cacheSerializer, to: cacheSerializer)
    }

    /// Sets the format images are stored in: PNG, JPEG, GIF, WebP or AVIF; any other is PNG.
    ///
    /// `jpegCompressionQuality` is 0…1, for JPEG; 1 by default.
    public func serialize(as format: ImageFormat, jpegCompressionQuality: CGFloat? = nil) -> Self {
        switch format {
        case .JPEG:
            serialize(
                by: FormatIndicatedCacheSerializer.jpeg(
                    compressionQuality: jpegCompressionQuality ?? 1))
        case .GIF: serialize(by: FormatIndicatedCacheSerializer.gif)
        case .WebP: serialize(by: FormatIndicatedCacheSerializer.webp)
        case .AVIF: serialize(by: FormatIndicatedCacheSerializer.avif)
        default: serialize(by: FormatIndicatedCacheSerializer.png)
        }
    }

    /// Sets what changes the delivered image, never the cached one.
    public func imageModifier(_ modifier: (any ImageModifier)?) -> Self {
        setting(\.imageModifier, to: modifier)
    }

    /// Sets a closure that changes the delivered image, never the cached one; when it throws, the image
    /// is delivered as it was. Runs on any thread.
    public func imageModifier(
        _ block: @escaping @Sendable (inout KFCrossPlatformImage) throws -> Void
    ) -> Self {
        imageModifier(
            AnyImageModifier { image in
                var image = image
                try block(&image)
                return image
            })
    }
}
