import Vips

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

    /// The same picture with 8 or 16 bits, as `other` has.
    func withDepth(of other: VipsImage) throws -> VipsImage {
        if format == other.format { return self }
        let factor = other.format == .ushort ? 257 : 1 / 257.0
        return try linear(multiply: [factor], add: [0]).quantized(like: other)
    }
}

extension PixelSize {
    /// Refuses what no file of that size would be decoded for either.
    func checkCanBeDrawn() throws(ImageCodingError) {
        guard let limit = DecodingLimits.default.maximumPixelCount else { return }
        let (count, overflow) = width.multipliedReportingOverflow(by: height)
        if overflow || count > limit { throw .tooManyPixels(self, limit: limit) }
    }
}
