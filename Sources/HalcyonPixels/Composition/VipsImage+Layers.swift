import Vips

/// Putting images of 3 or 4 bands, of 8 or 16 bits and straight alpha, on top of each other.
extension VipsImage {
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

    /// The coverage of a rectangle with rounded corners, in the depth of `other`.
    static func roundedMask(
        _ size: PixelSize, radius: Double, like other: VipsImage
    ) throws -> VipsImage {
        let shape = RoundedRectangle(size: size, radius: radius, corners: .all)
        return try CoverageMask(size: size, format: other.format, adding: shape).vipsImage()
    }
}
