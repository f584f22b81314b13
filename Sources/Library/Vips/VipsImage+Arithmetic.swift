extension VipsImage {
    /// The same numbers in another format, cut off at its limits; fractions are dropped.
    public func cast(to format: VipsBandFormat) throws(VipsError) -> VipsImage {
        if format == self.format { return self }
        return try apply("cast", ["format": .string(format.nickname)])
    }

    /// The nearest numbers in another format, cut off at its limits.
    public func rounded(to format: VipsBandFormat) throws(VipsError) -> VipsImage {
        switch format {
        case .uchar where self.format != .uchar:
            // Adds and converts in one pass over the pixels.
            try apply("linear", ["a": [1], "b": [0.5], "uchar": true])
        case .float, .double, .complex, .dpcomplex:
            try cast(to: format)
        default:
            try apply("round", ["round": "rint"]).cast(to: format)
        }
    }

    /// Each band multiplied by a number and added to another, as floating-point numbers.
    ///
    /// - Parameters:
    ///   - multiply: One factor per band, or one for all.
    ///   - add: One summand per band, or one for all.
    public func linear(multiply: [Double], add: [Double]) throws(VipsError) -> VipsImage {
        try apply("linear", ["a": .doubles(multiply), "b": .doubles(add)])
    }

    /// The same bands with another meaning, unchanged.
    public func interpreted(as interpretation: VipsInterpretation) throws(VipsError) -> VipsImage {
        if interpretation == self.interpretation { return self }
        return try apply("copy", ["interpretation": .string(interpretation.nickname)])
    }
}

/// How an image is mixed with the one under it.
public enum VipsBlendMode: String, Sendable, CaseIterable {
    case clear, source, over, `in`, out, atop, dest
    case destOver = "dest-over"
    case destIn = "dest-in"
    case destOut = "dest-out"
    case destAtop = "dest-atop"
    case xor, add, saturate, multiply, screen, overlay, darken, lighten
    case colourDodge = "colour-dodge"
    case colourBurn = "colour-burn"
    case hardLight = "hard-light"
    case softLight = "soft-light"
    case difference, exclusion
}

extension VipsImage {
    /// The image with an opaque alpha band; the image itself when it has alpha.
    public func addingAlpha() throws(VipsError) -> VipsImage {
        if hasAlpha { return self }
        return try apply("bandjoin_const", ["c": [interpretation.maximum]])
    }

    /// The colour bands, and the alpha band when there is one.
    public func alphaSplit() throws(VipsError) -> (colour: VipsImage, alpha: VipsImage?) {
        guard hasAlpha else { return (self, nil) }
        let colour = try apply("extract_band", ["band": 0, "n": .int(bands - 1)])
        return (colour, try apply("extract_band", ["band": .int(bands - 1)]))
    }

    /// The bands of this image followed by those of another of the same size.
    public func bandJoined(with other: VipsImage) throws(VipsError) -> VipsImage {
        try VipsImage.create("bandjoin", ["in": .images([self, other])])
    }

    /// The image without alpha, on a background of one colour; the image itself when it has no alpha.
    ///
    /// - Parameter background: One value per colour band, or one for all.
    public func flattened(background: [Double] = [0]) throws(VipsError) -> VipsImage {
        guard hasAlpha else { return self }
        return try apply("flatten", ["background": .doubles(background)])
    }

    /// Colours multiplied by opacity, as floating-point numbers; the image itself without alpha.
    public func premultiplied() throws(VipsError) -> VipsImage {
        hasAlpha ? try apply("premultiply") : self
    }

    /// Colours divided by opacity, as floating-point numbers; the image itself without alpha.
    public func unpremultiplied() throws(VipsError) -> VipsImage {
        hasAlpha ? try apply("unpremultiply") : self
    }

    /// This image mixed with `base` under it. The result has the size of `base` and an alpha band.
    ///
    /// `left` and `top` are where this image's left and top edges are in `base`, in pixels.
    public func composited(
        over base: VipsImage, mode: VipsBlendMode = .over, left: Int = 0, top: Int = 0
    ) throws(VipsError) -> VipsImage {
        try base.apply(
            "composite2",
            [
                "overlay": .image(self), "mode": .string(mode.rawValue), "x": .int(left),
                "y": .int(top),
            ])
    }
}
