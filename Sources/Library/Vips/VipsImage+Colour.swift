import CVips

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
