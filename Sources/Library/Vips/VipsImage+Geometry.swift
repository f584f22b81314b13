/// The filling around an image that is embedded in a larger one.
public enum VipsExtend: String, Sendable, CaseIterable {
    case black, copy, `repeat`, mirror, white, background
}

extension VipsImage {
    /// The rectangle of the image; it must lie inside.
    public func cropped(
        left: Int, top: Int, width: Int, height: Int
    ) throws(VipsError) -> VipsImage {
        try apply(
            "extract_area",
            [
                "left": .int(left), "top": .int(top), "width": .int(width), "height": .int(height),
            ])
    }

    /// The image at a place inside one of `width` × `height`; what lies outside of it is cut off.
    ///
    /// `background` has one value per band, or one for all; it is for `extend: .background`.
    public func embedded(
        left: Int, top: Int, width: Int, height: Int, extend: VipsExtend = .black,
        background: [Double]? = nil
    ) throws(VipsError) -> VipsImage {
        var arguments: [String: VipsValue] = [
            "x": .int(left), "y": .int(top), "width": .int(width), "height": .int(height),
            "extend": .string(extend.rawValue),
        ]
        if let background { arguments["background"] = .doubles(background) }
        return try apply("embed", arguments)
    }

    /// The mirror image, left and right exchanged.
    public func flippedHorizontally() throws(VipsError) -> VipsImage {
        try apply("flip", ["direction": "horizontal"])
    }

    /// The mirror image, top and bottom exchanged. Not for sequential images.
    public func flippedVertically() throws(VipsError) -> VipsImage {
        try apply("flip", ["direction": "vertical"])
    }

    /// The image turned clockwise by quarters; negative counts turn the other way. Not for sequential
    /// images.
    public func rotated(quarterTurns: Int) throws(VipsError) -> VipsImage {
        let turns = (quarterTurns % 4 + 4) % 4
        if turns == 0 { return self }
        return try apply("rot", ["angle": .string("d\(turns * 90)")])
    }

    /// The image turned and mirrored as its EXIF orientation asks, with the orientation removed.
    ///
    /// Only orientations 1 and 2 can be read in order: a sequential image has to be shrunk and then
    /// copied with ``copiedToMemory()`` before.
    public func orientationApplied() throws(VipsError) -> VipsImage {
        let upright = (int("orientation") ?? 1) > 1 ? try apply("autorot") : self
        guard upright.hasField("orientation") else { return upright }
        return try upright.settingMetadata(
            [], removing: ["orientation", "exif-ifd0-Orientation"])
    }
}

/// The filter that resampling weighs source pixels with.
public enum VipsKernel: String, Sendable, CaseIterable {
    case nearest, linear, cubic, mitchell, lanczos2, lanczos3
}

extension VipsImage {
    /// The image resampled to exactly `width` × `height` pixels; proportions are not kept.
    ///
    /// With alpha, colours are weighed by their opacity. Works on sequential images at any factor.
    /// A strip of pages is resampled as one picture, and its page height is left as it was.
    public func resized(
        to width: Int, height: Int, kernel: VipsKernel = .lanczos3
    ) throws(VipsError) -> VipsImage {
        guard width > 0, height > 0 else {
            throw VipsError(operation: "resize", message: "resize: bad size \(width)x\(height)")
        }
        if width == self.width, height == self.height { return self }
        // The nearest kernel mixes no pixels.
        if hasAlpha, kernel != .nearest {
            return try premultiplied()
                .resampled(to: width, height: height, kernel: kernel)
                .unpremultiplied()
                .rounded(to: format)
        }
        return try resampled(to: width, height: height, kernel: kernel)
    }

    /// The image resampled from colours that are already premultiplied: floating-point numbers on
    /// the scale of `format`, which the result has.
    public func resizedFromPremultiplied(
        to width: Int, height: Int, as format: VipsBandFormat
    ) throws(VipsError) -> VipsImage {
        try resampled(to: width, height: height, kernel: .lanczos3, gap: 0).unpremultiplied()
            .rounded(to: format)
    }

    /// - Parameter gap: The smallest reduction left to the kernel when a reduction begins with
    ///   averaging by a whole number; 0 leaves all of it.
    private func resampled(
        to width: Int, height: Int, kernel: VipsKernel, gap: Double = 2
    ) throws(VipsError) -> VipsImage {
        let resampled = try apply(
            "resize",
            [
                "scale": .double(Double(width) / Double(self.width)),
                "vscale": .double(Double(height) / Double(self.height)),
                "kernel": .string(kernel.rawValue), "gap": .double(gap),
            ])
        if resampled.width == width, resampled.height == height { return resampled }
        // Rounding can miss the size by a pixel: repeat or drop the last row and column.
        return try resampled.embedded(
            left: 0, top: 0, width: width, height: height, extend: .copy)
    }
}
