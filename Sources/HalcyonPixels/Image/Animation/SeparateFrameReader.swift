extension EncodedImage {
    /// A reader before the first frame.
    func frameReader() throws -> any FrameReader {
        header.timing == nil ? SeparateFrameReader(encoded: self) : try opened.frameReader()
    }
}

/// Decodes a still image as the one frame that it has.
struct SeparateFrameReader: FrameReader {
    let encoded: EncodedImage

    var position: Int { 0 }

    func frame(_ index: Int) throws -> Bitmap {
        try Recipe(encoded: encoded).render(frame: index)
    }
}
