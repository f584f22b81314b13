import Vips

extension VipsImage {
    /// Evaluates the image and replaces each pixel by what `transform` makes of it.
    ///
    /// For what no libvips operation computes. Pixels are straight RGBA, each component 0…1; the result
    /// always has alpha.
    func mappingPixels(
        _ transform: (SIMD4<Float>) -> SIMD4<Float>
    ) throws -> VipsImage {
        let pixels = try addingAlpha().rendered()
        if format == .ushort {
            pixels.replace(UInt16.self, transform)
        } else {
            pixels.replace(UInt8.self, transform)
        }
        return try pixels.vipsImage()
    }
}

extension VipsPixels {
    /// These pixels as the start of another pipeline, without a copy.
    func vipsImage() throws -> VipsImage {
        try VipsImage.memory(
            pointer, count: count, owner: self, width: width, height: height, bands: bands,
            format: format, interpretation: format == .ushort ? .rgb16 : .srgb)
    }

    fileprivate func replace<Sample: FixedWidthInteger & UnsignedInteger & SIMDScalar>(
        _ type: Sample.Type, _ transform: (SIMD4<Float>) -> SIMD4<Float>
    ) {
        let full = Float(Sample.max)
        let samples = pointer.assumingMemoryBound(to: Sample.self)
        for index in 0..<(width * height) {
            let sample = samples + index * 4
            let pixel = SIMD4(
                Float(sample[0]), Float(sample[1]), Float(sample[2]), Float(sample[3]))
            let result = transform(pixel / full)
                .clamped(lowerBound: .zero, upperBound: .one)
            for band in 0..<4 { sample[band] = Sample((result[band] * full).rounded()) }
        }
    }
}
