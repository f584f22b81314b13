import Vips

extension Bitmap {
    /// Evaluates a pipeline whose result is sRGB with 3 or 4 bands of 8 or 16 bits.
    init(rendering image: VipsImage) throws {
        let pixels = try image.rendered()
        let depth: Depth = pixels.format.bytesPerSample == 2 ? .sixteen : .eight
        guard pixels.bands == 3 || pixels.bands == 4,
            pixels.format == .uchar || pixels.format == .ushort
        else {
            throw ImageCodingError.processing(
                reason: "a step gave \(pixels.bands) bands of \(pixels.format)")
        }
        self.init(
            size: PixelSize(width: pixels.width, height: pixels.height), channels: pixels.bands,
            depth: depth,
            storage: PixelMemory(adopting: pixels.pointer, count: pixels.count) { _ in
                withExtendedLifetime(pixels) {}
            })
    }

    /// These pixels as the start of a libvips pipeline; no copy is made.
    func vipsImage() throws -> VipsImage {
        try VipsImage.memory(
            UnsafeRawPointer(storage.pointer).advanced(by: offset), count: byteCount,
            owner: storage, width: size.width, height: size.height, bands: channels,
            format: depth == .eight ? .uchar : .ushort,
            interpretation: depth == .eight ? .srgb : .rgb16)
    }
}

extension Bitmap {
    /// Whether every pixel is wholly opaque. Looks at all of them.
    /// - Throws: An error of libvips.
    package func isOpaque() throws -> Bool {
        guard let alpha = try vipsImage().alphaSplit().alpha else { return true }
        var operation = VipsOperation("min")
        operation.set("in", .image(alpha))
        return try operation.run().double("out") >= (depth == .eight ? 255 : 65535)
    }
}
