extension EncodedImage {
    /// A reader before the first frame.
    func frameReader() throws -> any FrameReader {
        if header.timing != nil, let decoder = decoder as? any AnimatedImageDecoder {
            return try decoder.frameReader(data, header: header)
        }
        return SeparateFrameReader(encoded: self)
    }
}

/// Decodes each frame by itself: for still images, and decoders that know no better.
struct SeparateFrameReader: FrameReader {
    let encoded: EncodedImage

    var position: Int { 0 }

    func frame(_ index: Int) throws -> Bitmap {
        try Recipe(encoded: encoded).render(frame: index)
    }
}
