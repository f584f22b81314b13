import Foundation
import Vips

/// Several images in one picture.
public struct ImageComposition: Sendable {
    public var layout: PhotoLayout
    /// The photos for the slots of the layout, in order. A slot without a photo shows what is below
    /// it; photos without a slot are ignored. An animation contributes its first frame.
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
        let (canvas, layers) = (canvas, layers)
        let depth: Bitmap.Depth =
            layers.contains { $0.image.depth == .sixteen } ? .sixteen : .eight
        let background = layout.background.clamped
        let cornerRadius = Double(max(0, layout.cornerRadius * layout.scale))
        // A plain colour spread to the size, with layers drawn on it and its corners cut off.
        let drawing = ImageOperation(
            size: canvas, hasAlpha: background.alpha < 1 || cornerRadius > 0
        ) { colour, _ in
            for size in [canvas] + layers.map(\.size) { try size.checkCanBeDrawn() }
            var picture = try colour.embedded(
                left: 0, top: 0, width: canvas.width, height: canvas.height, extend: .copy)
            for layer in layers { picture = try layer.drawn(on: picture) }
            guard cornerRadius > 0 else { return picture }
            return try picture.rounded(radius: cornerRadius, size: canvas)
        }
        let picture = PixelContent(Recipe(frames: [.pixel(background, depth: depth)]))
        return Image(content: picture.applying(drawing), scale: layout.scale)
    }

    private var canvas: PixelSize { PixelSize(points: layout.size, scale: layout.scale) }

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

extension Image {
    /// The image drawn into the lower left corner of `canvas`, which decides on size, channels and depth;
    /// an animation as it is. Drawn on the calling thread.
    package func drawn(on canvas: Bitmap) throws -> Image {
        guard animation == nil else { return self }
        let drawing = PixelContent(Recipe(frames: [canvas])).applying(
            ImageOperation { picture, size in
                let layer = CompositionLayer(
                    image: self, left: 0, top: size.height - self.pixelSize.height,
                    size: self.pixelSize, cornerRadius: 0, contentMode: .none)
                return try layer.drawn(on: picture)
            })
        _ = try drawing.bitmap()
        return Image(
            content: drawing, scale: scale, creatingOptions: creatingOptions,
            isFirstFrame: isFirstFrame)
    }
}

/// An image with its place in a composed picture, in pixels.
struct CompositionLayer: Sendable {
    let image: Image
    let left: Int
    let top: Int
    let size: PixelSize
    let cornerRadius: Double
    let contentMode: ContentMode
}

extension CompositionLayer {
    /// The layer of `photo` in a slot; `nil` when the slot has no pixel in the picture, or a place that
    /// is no number.
    init?(_ photo: Image, in slot: PhotoLayout.Slot, scale: CGFloat, canvas: PixelSize) {
        let rect = slot.rect.standardized
        let edges = [rect.minX, rect.minY, rect.maxX, rect.maxY].map { ($0 * scale).rounded() }
        guard edges.allSatisfy({ abs($0) < 10_000_000 }) else { return nil }
        let (left, top) = (Int(edges[0]), Int(edges[1]))
        let (right, bottom) = (Int(edges[2]), Int(edges[3]))
        guard right > left, bottom > top, right > 0, bottom > 0, left < canvas.width,
            top < canvas.height
        else { return nil }
        self.init(
            image: photo, left: left, top: top,
            size: PixelSize(width: right - left, height: bottom - top),
            cornerRadius: max(0, slot.cornerRadius * scale), contentMode: slot.contentMode)
    }

    func drawn(on picture: VipsImage) throws -> VipsImage {
        try picture.drawing(cell(like: picture), left: left, top: top)
    }

    /// The image brought to the slot's size, with the depth of `picture`: with alpha unless it covers
    /// the slot wholly.
    private func cell(like picture: VipsImage) throws -> VipsImage {
        let source = CGSize(width: image.pixelSize.width, height: image.pixelSize.height)
        let slot = CGSize(width: size.width, height: size.height)
        let target = PixelSize(points: contentMode.size(of: source, in: slot), scale: 1)
        var cell = try pixels(at: target).withDepth(of: picture)
        let left = (size.width - cell.width) / 2
        let top = (size.height - cell.height) / 2
        if cell.width > size.width || cell.height > size.height {
            cell = try cell.cropped(
                left: max(0, -left), top: max(0, -top), width: min(cell.width, size.width),
                height: min(cell.height, size.height))
        }
        if cell.width < size.width || cell.height < size.height {
            cell = try cell.addingAlpha().embedded(
                left: max(0, left), top: max(0, top), width: size.width, height: size.height)
        }
        guard cornerRadius > 0 else { return cell }
        return try cell.rounded(radius: cornerRadius, size: size)
    }

    /// The image at a size: part of the picture's pipeline when its pixels are in memory, otherwise
    /// decoded at about that size before.
    private func pixels(at target: PixelSize) throws -> VipsImage {
        let resize = ImageOperation.resizing(to: target)
        if image.isRendered || target == image.pixelSize {
            return try resize.apply(image.bitmap().vipsImage(), image.pixelSize)
        }
        let still = try image.content.currentRecipe.appending(resize).render(frame: 0)
        return try still.vipsImage()
    }
}
