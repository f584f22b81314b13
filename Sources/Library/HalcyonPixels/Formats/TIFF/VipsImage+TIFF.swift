import Vips

extension VipsImage {
    /// The picture of a TIFF file as libvips has read it, with its colours and with opacity behind them if it has
    /// some, and without samples of other meanings.
    ///
    /// Colours as CIE L*a*b*, whose samples must have been read as they are stored, become those of sRGB: libvips
    /// knows some of their kinds only, and takes their white for that of daylight.
    func meant(by header: TIFFHeader) throws(VipsError) -> VipsImage {
        let image = try withoutExtraSamples(header)
        guard let lab = header.lab else { return image }
        return try image.convertedFromLab(lab, isPremultiplied: header.isPremultiplied)
    }

    private func withoutExtraSamples(_ header: TIFFHeader) throws(VipsError) -> VipsImage {
        let colours = bands - header.extraCount
        guard header.extraCount > 0, colours > 0 else { return self }
        guard let alpha = header.alphaIndex else { return try firstBands(colours) }
        if alpha == 0 { return try firstBands(colours + 1) }
        return try firstBands(colours)
            .bandJoined(with: apply("extract_band", ["band": .int(colours + alpha)]))
    }

    private func firstBands(_ count: Int) throws(VipsError) -> VipsImage {
        if count == bands { return self }
        return try apply("extract_band", ["band": 0, "n": .int(count)])
    }

    /// Three bands of CIE L*a*b*, and perhaps one of opacity, in sRGB of 8 or 16 bits.
    private func convertedFromLab(
        _ lab: TIFFHeader.Lab, isPremultiplied: Bool
    ) throws(VipsError) -> VipsImage {
        let colour = try firstBands(3).labNumbers(lab)
        let isDeep = format == .ushort
        let target: VipsInterpretation = isDeep ? .rgb16 : .srgb
        guard bands > 3 else {
            return try colour.convertedFromLabNumbers(to: target)
        }
        let alpha = try apply("extract_band", ["band": 3])
        let most = format == .float ? 1 : isDeep ? 65535.0 : 255
        let straight =
            isPremultiplied
            ? try colour.bandJoined(with: alpha.cast(to: .float))
                .apply("unpremultiply", ["max_alpha": .double(most), "alpha_band": 3])
                .firstBands(3) : colour
        let depth: VipsBandFormat = isDeep ? .ushort : .uchar
        let opacity =
            format == .float ? try alpha.linear(multiply: [255], add: [0.5]) : alpha
        return try straight.convertedFromLabNumbers(to: target)
            .bandJoined(with: opacity.cast(to: depth)).interpreted(as: target)
    }

    /// L* from 0 to 100, a* and b* from -128 to 127.
    private func labNumbers(_ lab: TIFFHeader.Lab) throws(VipsError) -> VipsImage {
        guard format != .float else { return try interpreted(as: .lab) }
        let isDeep = format == .ushort
        // With a sign, or 128 added, is a difference of the uppermost bit.
        let middle = isDeep ? 32768.0 : 128
        let unsigned =
            lab == .unsigned
            ? self
            : try apply("boolean_const", ["boolean": "eor", "c": .doubles([0, middle, middle])])
        // 16 bits without a sign are the lower ones of a number whose upper byte is one of 8 bits.
        let white = !isDeep ? 255.0 : lab == .unsigned ? 65280 : 65535
        let step = middle / 128
        return try unsigned.linear(
            multiply: [100 / white, 1 / step, 1 / step], add: [0, -128, -128]
        ).interpreted(as: .lab)
    }

    private func convertedFromLabNumbers(
        to target: VipsInterpretation
    ) throws(VipsError) -> VipsImage {
        try interpreted(as: .lab).apply("Lab2XYZ", ["temp": [96.422, 100, 82.521]])
            .apply("recomb", ["m": .image(.matrix(Self.adaptation))]).interpreted(as: .xyz)
            .converted(to: target)
            .settingMetadata([], removing: ["icc-profile-data"])
    }

    /// Bradford's, of the white of print (D50) to that of displays (D65).
    private static let adaptation = PixelMemory(
        samples: [
            0.9555766, -0.0230393, 0.0631636, -0.0282895, 1.0099416, 0.0210077, 0.0122982,
            -0.0204830, 1.3299098,
        ])
}
