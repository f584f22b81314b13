import CVips

extension VipsImage {
    /// The values converted to another format, clamped to its limits; fractions are dropped.
    public func cast(to format: VipsBandFormat) throws(VipsError) -> VipsImage {
        if format == self.format { return self }
        return try apply("cast", ["format": .string(format.nickname)])
    }

    /// The values rounded to another format, clamped to its limits.
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

    /// The image with another interpretation of its bands; the values stay as they are.
    public func interpreted(as interpretation: VipsInterpretation) throws(VipsError) -> VipsImage {
        if interpretation == self.interpretation { return self }
        return try apply("copy", ["interpretation": .string(interpretation.nickname)])
    }
}

/// The blending of an image with the one under it.
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

extension VipsImage {
    /// The image converted to another colour space; an embedded ICC profile is not looked at.
    public func converted(
        to interpretation: VipsInterpretation
    ) throws(VipsError) -> VipsImage {
        if interpretation == self.interpretation { return self }
        return try apply("colourspace", ["space": .string(interpretation.nickname)])
    }

    /// The image in sRGB, with three colour bands and its alpha, and without an ICC profile.
    ///
    /// Colours pass through the embedded profile when there is one that fits the image, unless it is
    /// the sRGB profile; without one the image's interpretation decides. 16-bit images stay 16-bit
    /// (`rgb16`), all others become 8-bit. Alpha never passes through a profile.
    public func convertedToSRGB() throws(VipsError) -> VipsImage {
        let isDeep = format == .ushort || interpretation == .rgb16 || interpretation == .grey16
        let target: VipsInterpretation = isDeep ? .rgb16 : .srgb
        let (colour, alpha) = try alphaSplit()
        var converted = try colour.colourConvertedToSRGB(target)
        let depth: VipsBandFormat = isDeep ? .ushort : .uchar
        converted = try converted.cast(to: depth).interpreted(as: target)
        if let alpha {
            converted = try converted.bandJoined(with: alpha.cast(to: depth)).interpreted(
                as: target)
        }
        guard converted.hasProfile else { return converted }
        return try converted.settingMetadata([], removing: ["icc-profile-data"])
    }

    private func colourConvertedToSRGB(
        _ target: VipsInterpretation
    ) throws(VipsError) -> VipsImage {
        if isDeviceColour, let data = blob("icc-profile-data"), let profile = ICCProfile(data),
            profile.channelCount == bands
        {
            if profile.isSRGB { return self }
            do {
                return try apply(
                    "icc_transform",
                    [
                        "output_profile": "srgb", "embedded": true,
                        // Asked for another, libvips would hand on the colours as they are.
                        "intent": .string(profile.isPerceptualOnly ? "perceptual" : "relative"),
                        "depth": .int(target == .rgb16 ? 16 : 8),
                    ])
            } catch {
                // A broken profile is no reason to lose the picture: go on as without one.
            }
        }
        return try spaceConverted(to: target)
    }

    /// Whether the pixels are what a profile describes, not yet measured colours such as Lab.
    private var isDeviceColour: Bool {
        let spaces: [VipsInterpretation] = [
            .srgb, .rgb, .rgb16, .bw, .grey16, .cmyk, .multiband,
        ]
        return spaces.contains(interpretation) && (format == .uchar || format == .ushort)
    }

    /// The conversion by the image's interpretation alone.
    private func spaceConverted(to target: VipsInterpretation) throws(VipsError) -> VipsImage {
        let isPlain = [.srgb, .rgb, .rgb16, .multiband].contains(interpretation)
        if isPlain, bands == 3, format == .uchar || format == .ushort { return self }
        let guess = VipsInterpretation(vips_image_guess_interpretation(pointer))
        return try interpreted(as: guess).converted(to: target)
    }
}
