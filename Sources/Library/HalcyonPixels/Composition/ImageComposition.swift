import Foundation
import Vips

/// Several images in one picture.
public struct ImageComposition: Sendable {
    public var layout: PhotoLayout
    /// The photos for the slots of the layout, in their order. A slot without a photo shows what is
    /// below, photos without a slot are left out. Of an animation the first frame is used.
    public var photos: [Image]
    /// The frame, if any.
    public var frame: Image?

    public init(
        layout: PhotoLayout, photos: [Image], frame: Image? = nil
    ) {
        self.layout = layout
        self.photos = photos
        self.frame = frame
    }

    /// The composed picture, of the layout's size and scale. It is described only, and made in one
    /// pass when it is first rendered; that fails for a picture, or a slot, of more pixels than
    /// `DecodingLimits.default` allows.
    public var image: Image {
        let depth: Bitmap.Depth =
            layers.contains { $0.image.depth == .sixteen } ? .sixteen : .eight
        let picture = PixelContent(
            Recipe(frames: [.pixel(layout.background.clamped, depth: depth)])
        ).applying(
            CompositionOperation(
                size: canvas, layers: layers,
                cornerRadius: max(0, layout.cornerRadius * layout.scale)))
        return Image(content: picture, scale: layout.scale)
    }

    private var canvas: PixelSize { PixelSize(points: layout.size, scale: layout.scale) }

    /// What is drawn, in order.
    private var layers: [CompositionLayer] {
        let photos = zip(photos, layout.slots).compactMap { photo, slot in
            CompositionLayer(photo, in: slot, scale: layout.scale, canvas: canvas)
        }
        guard let frame else { return photos }
        let whole = CompositionLayer(
            image: frame, left: 0, top: 0, size: canvas, cornerRadius: 0,
            contentMode: layout.frameContentMode)
        return layout.frameOrder == .belowPhotos ? [whole] + photos : photos + [whole]
    }
}

extension Bitmap {
    /// One pixel of a colour, without alpha if it is opaque.
    fileprivate static func pixel(_ color: Color, depth: Depth) -> Bitmap {
        let channels = color.alpha < 1 ? 4 : 3
        let components = [color.red, color.green, color.blue, color.alpha].prefix(channels)
        let bytes = components.flatMap { component -> [UInt8] in
            switch depth {
            case .eight: [UInt8((component * 255).rounded())]
            case .sixteen:
                Swift.withUnsafeBytes(of: UInt16((component * 65535).rounded())) { Array($0) }
            }
        }
        return Bitmap(
            size: PixelSize(width: 1, height: 1), channels: channels, depth: depth,
            storage: .copying(Data(bytes)))
    }
}

/// A plain colour spread to a size, with layers drawn on it and its corners cut off.
struct CompositionOperation: ImageOperation {
    let size: PixelSize
    let layers: [CompositionLayer]
    /// In pixels.
    let cornerRadius: Double

    func outputSize(for input: PixelSize) -> PixelSize { size }

    func outputHasAlpha(for input: Bool) -> Bool { input || cornerRadius > 0 }

    func apply(to image: VipsImage, input: PixelSize) throws -> VipsImage {
        for size in [size] + layers.map(\.size) { try size.checkCanBeDrawn() }
        var picture = try image.embedded(
            left: 0, top: 0, width: size.width, height: size.height, extend: .copy)
        for layer in layers { picture = try layer.drawn(on: picture) }
        guard cornerRadius > 0 else { return picture }
        return try picture.masked(by: .roundedMask(size, radius: cornerRadius, like: picture))
    }
}

extension Image {
    /// The image drawn into the lower left corner of `canvas`, which decides on size, channels and depth;
    /// an animation as it is. Drawn on the calling thread.
    package func drawn(on canvas: Bitmap) throws -> Image {
        guard animation == nil else { return self }
        let drawing = PixelContent(Recipe(frames: [canvas])).applying(DrawingOperation(image: self))
        _ = try drawing.bitmap()
        return Image(
            content: drawing, scale: scale, creatingOptions: creatingOptions,
            isFirstFrame: isFirstFrame)
    }
}

/// Draws an image, as it is, into the lower left corner of a picture.
private struct DrawingOperation: ImageOperation {
    let image: Image

    func apply(to picture: VipsImage, input: PixelSize) throws -> VipsImage {
        let layer = CompositionLayer(
            image: image, left: 0, top: input.height - image.pixelSize.height,
            size: image.pixelSize, cornerRadius: 0, contentMode: .none)
        return try layer.drawn(on: picture)
    }
}
