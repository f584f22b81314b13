import Foundation
import Vips

/// Painting with straight alpha: images of 3 or 4 bands of 8 or 16 bits in and out.
extension VipsImage {
    var fullScale: Double { format == .ushort ? 65535 : 255 }

    /// A colour over this image, everywhere or through a mask of the image's size and depth.
    ///
    /// Source-over of Porter and Duff: with the paint's opacity `m` and the image's `a`, the result is
    /// `m + (1 − m) a` opaque, and its colour is the mean of both, weighed by `m` and `(1 − m) a`.
    func painted(with color: Color, through mask: VipsImage? = nil) throws -> VipsImage {
        let color = color.clamped
        if color.alpha == 0 { return self }
        let full = fullScale
        // The image as far as the paint leaves it.
        func covered(_ image: VipsImage) throws -> VipsImage {
            guard let mask else { return try image.linear(multiply: [1 - color.alpha], add: [0]) }
            return try image.times(mask.linear(multiply: [-color.alpha / full], add: [1]))
        }
        // The image and so much of the paint where that is.
        func adding(_ amounts: [Double], to image: VipsImage) throws -> VipsImage {
            guard let mask else {
                return try image.linear(multiply: [1], add: amounts.map { $0 * full })
            }
            return try image.plus(mask.linear(multiply: amounts, add: [0]))
        }
        let (colour, alpha) = try alphaSplit()
        guard let alpha else {
            let paint = color.components(times: color.alpha)
            // Without a mask in one pass.
            return try
                (mask == nil
                ? linear(multiply: [1 - color.alpha], add: paint.map { $0 * full })
                : adding(paint, to: covered(self))).quantized(like: self)
        }
        let kept = try covered(alpha)
        let opacity = try adding([color.alpha], to: kept)
        let paint = try adding(
            color.components(times: full * color.alpha), to: colour.times(kept))
        return try paint.divided(by: opacity).bandJoined(with: opacity).quantized(like: self)
    }

    /// This image over a colour everywhere. Without alpha if the colour is opaque.
    func composited(over color: Color) throws -> VipsImage {
        let color = color.clamped
        let (colour, alpha) = try alphaSplit()
        guard let alpha, color.alpha > 0 else { return self }
        if color.alpha == 1 {
            let paint = try alpha.linear(
                multiply: color.components(times: -1), add: color.components(times: fullScale))
            return try colour.times(alpha).linear(multiply: [1 / fullScale], add: [0]).plus(paint)
                .quantized(like: self)
        }
        let shown = try alpha.linear(
            multiply: [-color.alpha], add: [color.alpha * fullScale])
        let opacity = try alpha.plus(shown)
        let paint = try shown.linear(multiply: color.components(times: fullScale), add: [0])
        return try colour.times(alpha).plus(paint).divided(by: opacity)
            .bandJoined(with: opacity).quantized(like: self)
    }

    /// This image with its opacity multiplied by that of a mask of the same size and depth.
    func masked(by mask: VipsImage) throws -> VipsImage {
        guard hasAlpha else { return try bandJoined(with: mask).quantized(like: self) }
        return try mappingAlpha {
            try $0.times(mask).linear(multiply: [1 / fullScale], add: [0])
        }
    }

    /// This image with another opacity everywhere.
    func faded(to opacity: Double) throws -> VipsImage {
        if opacity == 1 { return self }
        return try addingAlpha().mappingAlpha { try $0.linear(multiply: [opacity], add: [0]) }
    }

    private func mappingAlpha(_ change: (VipsImage) throws -> VipsImage) throws -> VipsImage {
        let (colour, alpha) = try alphaSplit()
        guard let alpha else { return self }
        return try colour.bandJoined(with: change(alpha).quantized(like: alpha))
            .quantized(like: self)
    }

    /// The image with its colour bands changed by `change` and its alpha as it was.
    func mappingColor(_ change: (VipsImage) throws -> VipsImage) throws -> VipsImage {
        let (colour, alpha) = try alphaSplit()
        guard let alpha else { return try change(self).quantized(like: self) }
        return try change(colour).quantized(like: self).bandJoined(with: alpha)
            .quantized(like: self)
    }

    /// The values rounded to the format, with the meaning, of `other`.
    func quantized(like other: VipsImage) throws -> VipsImage {
        let whole = format == other.format ? self : try rounded(to: other.format)
        return try whole.interpreted(as: other.format == .ushort ? .rgb16 : .srgb)
    }

    func times(_ other: VipsImage) throws(VipsError) -> VipsImage {
        try apply("multiply", ["right": .image(other)])
    }

    func plus(_ other: VipsImage) throws(VipsError) -> VipsImage {
        try apply("add", ["right": .image(other)])
    }

    /// Where `other` is 0 the result is 0.
    func divided(by other: VipsImage) throws(VipsError) -> VipsImage {
        try apply("divide", ["right": .image(other)])
    }
}

extension VipsImage {
    /// This image with its opacity multiplied by the coverage of a rounded rectangle of `size`.
    func rounded(radius: Double, corners: RectCorner = .all, size: PixelSize) throws -> VipsImage {
        let shape = RoundedRectangle(size: size, radius: radius, corners: corners)
        return try masked(by: .coverage(by: shape, size: size, like: self))
    }

    /// The coverage of each pixel by a shape, less that by one inside of it, as one band in the depth of `other`.
    static func coverage(
        by shape: RoundedRectangle, less hole: RoundedRectangle? = nil, size: PixelSize,
        like other: VipsImage
    ) throws -> VipsImage {
        let isDeep = other.format == .ushort
        let count = size.pixelCount * other.format.bytesPerSample
        let pointer = UnsafeMutableRawPointer.allocate(byteCount: count, alignment: 16)
        let memory = PixelMemory(adopting: pointer, count: count) { $0.deallocate() }
        let shapes = [(shape, 1.0)] + (hole.map { [($0, -1.0)] } ?? [])
        if isDeep {
            fill(pointer, UInt16.self, size, with: shapes)
        } else {
            fill(pointer, UInt8.self, size, with: shapes)
        }
        return try VipsImage.memory(
            pointer, count: count, owner: memory, width: size.width, height: size.height, bands: 1,
            format: other.format, interpretation: isDeep ? .grey16 : .bw)
    }

    private static func fill<Sample: FixedWidthInteger>(
        _ pointer: UnsafeMutableRawPointer, _ type: Sample.Type, _ size: PixelSize,
        with shapes: [(shape: RoundedRectangle, factor: Double)]
    ) {
        let start = pointer.bindMemory(to: Sample.self, capacity: size.pixelCount)
        var coverage = [Double](repeating: 0, count: size.width)
        var previous: [RoundedRectangle.Row] = []
        for y in 0..<size.height {
            let row = start + y * size.width
            let kinds = shapes.map { $0.shape.kind(ofRow: y) }
            if kinds == previous, !kinds.contains(.own) {
                row.initialize(from: row - size.width, count: size.width)
                continue
            }
            previous = kinds
            for x in coverage.indices { coverage[x] = 0 }
            for (shape, factor) in shapes {
                shape.addCoverage(ofRow: y, times: factor, to: &coverage)
            }
            for x in 0..<size.width {
                let value = min(max(0, coverage[x]), 1) * Double(Sample.max)
                (row + x).initialize(to: Sample(value.rounded()))
            }
        }
    }
}

/// Putting images of 3 or 4 bands, of 8 or 16 bits and straight alpha, on top of each other.
extension VipsImage {
    /// This image with `layer`, of the same depth, over it; what of the layer lies outside is cut off.
    func drawing(_ layer: VipsImage, left: Int, top: Int) throws -> VipsImage {
        let (x, y) = (max(0, left), max(0, top))
        let right = min(left + layer.width, width)
        let bottom = min(top + layer.height, height)
        guard right > x, bottom > y else { return self }
        let part = try layer.cropped(
            left: x - left, top: y - top, width: right - x, height: bottom - y)
        let below = try cropped(left: x, top: y, width: right - x, height: bottom - y)
        return try apply(
            "insert", ["sub": .image(part.composited(onto: below)), "x": .int(x), "y": .int(y)])
    }

    /// This image over one of the same size and depth, whose bands the result has.
    ///
    /// Source-over of Porter and Duff: with this image's opacity `m` and the lower one's `a`, the result
    /// is `m + (1 − m) a` opaque, and its colour is the mean of both, weighed by `m` and `(1 − m) a`.
    func composited(onto lower: VipsImage) throws -> VipsImage {
        let (colour, mask) = try alphaSplit()
        guard let mask else { return lower.hasAlpha ? try addingAlpha() : self }
        let (below, alpha) = try lower.alphaSplit()
        let share = try mask.linear(multiply: [-1 / fullScale], add: [1])
        guard let alpha else {
            let shown = try colour.times(mask).linear(multiply: [1 / fullScale], add: [0])
            return try below.times(share).plus(shown).quantized(like: lower)
        }
        let kept = try alpha.times(share)
        let opacity = try kept.plus(mask)
        let mixed = try colour.times(mask).plus(below.times(kept)).divided(by: opacity)
        return try mixed.bandJoined(with: opacity).quantized(like: lower)
    }

    /// The image with the depth of `other`, 8 or 16 bits.
    func withDepth(of other: VipsImage) throws -> VipsImage {
        if format == other.format { return self }
        let factor = other.format == .ushort ? 257 : 1 / 257.0
        return try linear(multiply: [factor], add: [0]).quantized(like: other)
    }
}

extension PixelSize {
    /// Refuses sizes beyond the pixel limit for decoding.
    func checkCanBeDrawn() throws(ImageCodingError) {
        guard let limit = DecodingLimits.default.maximumPixelCount else { return }
        let (count, overflow) = width.multipliedReportingOverflow(by: height)
        if overflow || count > limit { throw .tooManyPixels(self, limit: limit) }
    }
}

extension VipsImage {
    /// Evaluates the image and replaces each pixel by what `transform` makes of it.
    /// For calculations that no libvips operation offers. Pixels are straight RGBA, each component
    /// 0…1; the result always has alpha.
    func mappingPixels(
        _ transform: (SIMD4<Float>) -> SIMD4<Float>
    ) throws -> VipsImage {
        let pixels = try Bitmap(rendering: addingAlpha())
        switch pixels.depth {
        case .eight: pixels.replace(UInt8.self, transform)
        case .sixteen: pixels.replace(UInt16.self, transform)
        }
        return try pixels.vipsImage()
    }
}

extension Bitmap {
    /// Replaces pixels with alpha that nobody else has yet.
    fileprivate func replace<Sample: FixedWidthInteger & UnsignedInteger & SIMDScalar>(
        _ type: Sample.Type, _ transform: (SIMD4<Float>) -> SIMD4<Float>
    ) {
        let full = Float(Sample.max)
        let samples = storage.pointer.assumingMemoryBound(to: Sample.self)
        for index in 0..<size.pixelCount {
            let sample = samples + index * 4
            let pixel = SIMD4(
                Float(sample[0]), Float(sample[1]), Float(sample[2]), Float(sample[3]))
            let result = transform(pixel / full)
                .clamped(lowerBound: .zero, upperBound: .one)
            for band in 0..<4 { sample[band] = Sample((result[band] * full).rounded()) }
        }
    }
}
