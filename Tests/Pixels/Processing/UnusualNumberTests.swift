import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

/// Sizes, places and lengths that are not finite, negative or very large, as they come of a view without a
/// size that is divided by zero: nothing stops the program.
@Suite struct UnusualNumberTests {
    private static let numbers: [CGFloat] = [
        .nan, .signalingNaN, .infinity, -.infinity, -1, 0, .leastNonzeroMagnitude, 1e300, -1e300,
        .greatestFiniteMagnitude,
    ]
    private static let sizes: [CGSize] = numbers.flatMap {
        [CGSize(width: $0, height: $0), CGSize(width: $0, height: 4), CGSize(width: 4, height: $0)]
    }
    private static let points: [CGPoint] = sizes.map { CGPoint(x: $0.width, y: $0.height) }

    private let image = Picture.noise(width: 8, height: 6).image()

    /// Renders what is small enough; what cannot be made says so.
    private func use(_ image: Image) {
        _ = (image.size, image.scale)
        guard image.pixelSize.pixelCount <= 1 << 20 else { return }
        _ = try? image.bitmap()
    }

    private func use(_ processors: any ImageProcessor..., scale: CGFloat = 1) {
        for processor in processors {
            _ = processor.identifier
            _ = (processor as? any WrittenImageProcessor)?.spec
            let options = KingfisherParsedOptionsInfo.scale(scale)
            if let made = processor.process(item: .image(image), options: options) { use(made) }
        }
    }

    private func use(_ composition: ImageComposition) { use(composition.image) }

    @Test(arguments: sizes)
    func sizesOfImages(size: CGSize) {
        for mode in [ContentMode.none, .aspectFit, .aspectFill] {
            _ = size.kf.resize(to: CGSize(width: 3, height: 2), for: mode)
            _ = CGSize(width: 3, height: 2).kf.resize(to: size, for: mode)
            use(image.kf.resize(to: size, for: mode))
            use(ResizingImageProcessor(referenceSize: size, mode: mode))
        }
        _ = CGSize(width: 3, height: 2).kf.constrained(size)
        _ = CGSize(width: 3, height: 2).kf.filling(size)
        use(image.kf.resize(to: size))
        use(
            FittingImageProcessor(size: size, mode: .aspectFit),
            FittingImageProcessor(size: size, mode: .aspectFill),
            DownsamplingImageProcessor(size: size),
            RoundCornerImageProcessor(cornerRadius: 2, targetSize: size),
            SmartCroppingImageProcessor(size: size),
            WatermarkImageProcessor(image, name: "a", placement: .tiled(gap: size)))
        _ = Radius.widthFraction(0.5).compute(with: size)
        let hashes: [KFCrossPlatformImage?] = [
            .blurHash("LEHV6nWB2yk8pyo0adR*.7kCMdnj", size: size),
            .thumbHash("1QcSHQRnh493V4dIh4eXh1h4kJUI", size: size),
        ]
        for hash in hashes.compactMap(\.self) { use(hash) }
        use(KingfisherParsedOptionsInfo([]).fitted(to: DisplayArea(size: size)).processor)
        let photos = [image, image, image, image]
        use(ImageComposition(layout: .fourCut(size: size), photos: photos, frame: image))
    }

    @Test(arguments: points)
    func places(point: CGPoint) {
        let sizes = [CGSize(width: 3, height: 2)] + Self.sizes
        for size in sizes {
            let rect = CGSize(width: 8, height: 6).kf.constrainedRect(for: size, anchor: point)
            #expect(!rect.minX.isNaN && !rect.width.isNaN)
            _ = size.kf.constrainedRect(for: CGSize(width: 3, height: 2), anchor: point)
            use(image.kf.crop(to: size, anchorOn: point))
        }
        for size in sizes.prefix(4) {
            let region = CGRect(origin: point, size: size)
            use(
                CroppingImageProcessor(size: size, anchor: point),
                FocusCroppingImageProcessor(size: size, focus: point),
                RegionImageProcessor(region: region),
                CanvasImageProcessor(size: size, anchor: point))
            let layout = PhotoLayout(
                size: CGSize(width: 9, height: 9), slots: [PhotoLayout.Slot(rect: region)])
            use(ImageComposition(layout: layout, photos: [image]))
        }
        use(
            CanvasImageProcessor(size: CGSize(width: 12, height: 12), anchor: point),
            WatermarkImageProcessor(
                image, name: "a", scale: 0.5, placement: .once(anchor: point, offset: point)))
    }

    @Test(arguments: numbers)
    func lengthsAndFactors(number: CGFloat) {
        let color = Color(red: number, green: number, blue: number, alpha: number)
        use(
            BlurImageProcessor(blurRadius: number), GaussianBlurImageProcessor(sigma: number),
            SharpeningImageProcessor(sigma: number), PixelatingImageProcessor(side: number),
            RotatingImageProcessor(degrees: number), BitonalImageProcessor(threshold: number),
            TrimmingImageProcessor(threshold: number), PaddingImageProcessor(number),
            OverlayImageProcessor(overlay: .red, fraction: number),
            ColorControlsProcessor(
                brightness: number, contrast: number, saturation: number, inputEV: number),
            BlendImageProcessor(blendMode: .multiply, alpha: number),
            WatermarkImageProcessor(image, name: "a", opacity: number, scale: number),
            TintImageProcessor(tint: color), PaddingImageProcessor(2, backgroundColor: color))
        _ = (color.relativeLuminance, color.contrastRatio(to: .red), color.textColor())
        for radius in [Radius.point(number), .widthFraction(number), .heightFraction(number)] {
            let border = Border(color: color, lineWidth: number, radius: radius)
            use(
                RoundCornerImageProcessor(radius: radius, backgroundColor: color),
                BorderImageProcessor(border: border))
        }
        use(DownsamplingImageProcessor(size: CGSize(width: 4, height: 3)), scale: number)
        use(image.kf.scaled(to: number))
        use(image.kf.decoded(scale: number))
        use(image.kf.scaled(to: number).kf.resize(to: CGSize(width: 4, height: 3)))
        use(image.kf.scaled(to: number).kf.crop(to: CGSize(width: 4, height: 3), anchorOn: .zero))
        _ = PixelSize(points: CGSize(width: number, height: number), scale: number)
        _ = PixelSize(width: 4, height: 3).points(scale: number)
        for format in [ImageFormat.JPEG, .PNG, .WebP] {
            _ = image.kf.data(format: format, compressionQuality: number)
        }
        var layout = PhotoLayout.fourCut(
            size: CGSize(width: 20, height: 23), scale: number, photoCornerRadius: number,
            frameCornerRadius: number, background: color)
        use(ImageComposition(layout: layout, photos: [image], frame: image))
        layout.scale = 1
        use(ImageComposition(layout: layout, photos: [image], frame: image))
    }

    @Test(arguments: sizes)
    func animationsForAPlaceOfThatSize(size: CGSize) throws {
        let gif = try Image.decoding(Grays.gif(3))
        for scale in [1, size.width] {
            _ = Animator(image: gif.withScale(scale), targetSize: size).frame(at: 0)
        }
    }

    @Test(arguments: numbers)
    func thumbnailsOfThatSize(number: CGFloat) async throws {
        let folder = try TemporaryDirectory()
        let file = try folder.write(PNGFixture.data(.gradient(width: 8, height: 6)), to: "a.png")
        let provider = ThumbnailImageDataProvider(url: file, maxPixelSize: number)
        #expect(!provider.cacheKey.isEmpty)
        // A thumbnail is never larger than its picture, or of too many pixels.
        _ = try? await provider.data()
    }
}
