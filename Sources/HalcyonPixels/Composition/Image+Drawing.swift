import Vips

extension Image {
    /// The image drawn into the lower left corner of `canvas`, which decides on size, channels and depth;
    /// an animation as it is. Drawn on the calling thread.
    package func drawn(on canvas: Bitmap) throws -> Image {
        guard animation == nil else { return self }
        let drawing = PixelContent(Recipe(frames: [canvas])).applying(DrawingOperation(image: self))
        _ = try drawing.bitmap()
        return Image(content: drawing, scale: scale, creatingOptions: creatingOptions)
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
