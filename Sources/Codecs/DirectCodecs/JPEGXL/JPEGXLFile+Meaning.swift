import CCodecs

extension JPEGXLFile.Meaning {
    /// Asks a decoder that has come to the colours of the samples that it is about to deliver. Where it has the
    /// choice, because the file holds colours as they are seen, it delivers sRGB, but of light brighter than
    /// paper all that there is.
    init(
        _ jxl: cjxl_functions, _ decoder: OpaquePointer, _ info: JxlBasicInfo
    ) throws(CodecRefusal) {
        let isGrey = info.num_color_channels == 1
        if info.uses_original_profile == 0,
            Self.encoding(jxl, decoder, JXL_COLOR_PROFILE_TARGET_ORIGINAL)?.isHDR != true
        {
            var sRGB = JxlColorEncoding()
            sRGB.color_space = isGrey ? JXL_COLOR_SPACE_GRAY : JXL_COLOR_SPACE_RGB
            sRGB.white_point = JXL_WHITE_POINT_D65
            sRGB.primaries = JXL_PRIMARIES_SRGB
            sRGB.transfer_function = JXL_TRANSFER_FUNCTION_SRGB
            sRGB.rendering_intent = JXL_RENDERING_INTENT_RELATIVE
            // What it delivers in the end is asked for below.
            _ = jxl.set_preferred_colours(decoder, &sRGB)
        }
        if var colours = Self.encoding(jxl, decoder, JXL_COLOR_PROFILE_TARGET_DATA) {
            colours.peak = Double(info.intensity_target)
            self = .described(colours)
        } else if let profile = Self.iccProfile(jxl, decoder) {
            self = .profile(profile)
        } else {
            throw .unusual("its colours are not described")
        }
    }

    private static func encoding(
        _ jxl: cjxl_functions, _ decoder: OpaquePointer, _ target: JxlColorProfileTarget
    ) -> ColourDescription? {
        var encoding = JxlColorEncoding()
        guard cjxl_get_colours(jxl, decoder, target, &encoding) == JXL_DEC_SUCCESS else {
            return nil
        }
        return ColourDescription(encoding)
    }

    private static func iccProfile(
        _ jxl: cjxl_functions, _ decoder: OpaquePointer
    ) -> [UInt8]? {
        var size = 0
        guard
            cjxl_get_profile_size(jxl, decoder, JXL_COLOR_PROFILE_TARGET_DATA, &size)
                == JXL_DEC_SUCCESS, size > 0
        else { return nil }
        var profile = [UInt8](repeating: 0, count: size)
        let status = cjxl_get_profile(
            jxl, decoder, JXL_COLOR_PROFILE_TARGET_DATA, &profile, size)
        return status == JXL_DEC_SUCCESS ? profile : nil
    }
}

extension ColourDescription {
    /// `nil` for encodings that cannot be described so, and for other spaces than RGB and grey.
    fileprivate init?(_ encoding: JxlColorEncoding) {
        guard
            encoding.color_space == JXL_COLOR_SPACE_RGB
                || encoding.color_space == JXL_COLOR_SPACE_GRAY
        else { return nil }
        let transfer: Transfer
        switch encoding.transfer_function {
        case JXL_TRANSFER_FUNCTION_SRGB: transfer = .sRGB
        case JXL_TRANSFER_FUNCTION_709: transfer = .bt709
        case JXL_TRANSFER_FUNCTION_LINEAR: transfer = .gamma(1)
        case JXL_TRANSFER_FUNCTION_DCI: transfer = .gamma(2.6)
        case JXL_TRANSFER_FUNCTION_PQ: transfer = .pq
        case JXL_TRANSFER_FUNCTION_HLG: transfer = .hlg
        case JXL_TRANSFER_FUNCTION_GAMMA where encoding.gamma > 0:
            transfer = .gamma(1 / encoding.gamma)
        default: return nil
        }
        self.init(primaries: Primaries(encoding), transfer: transfer)
    }
}

extension ColourDescription.Primaries {
    fileprivate init(_ encoding: JxlColorEncoding) {
        let white: SIMD2<Double> =
            switch encoding.white_point {
            case JXL_WHITE_POINT_E: [1.0 / 3, 1.0 / 3]
            case JXL_WHITE_POINT_DCI: [0.314, 0.351]
            case JXL_WHITE_POINT_CUSTOM: Self.chromaticity(encoding.white_point_xy)
            default: Self.d65
            }
        let named: Self =
            switch encoding.primaries {
            case JXL_PRIMARIES_2100: .bt2020
            case JXL_PRIMARIES_P3: .p3(white: white)
            default: .sRGB
            }
        // A grey file has no primaries, and its white is that of what it becomes.
        guard encoding.color_space == JXL_COLOR_SPACE_RGB else {
            self = .sRGB
            return
        }
        guard encoding.primaries == JXL_PRIMARIES_CUSTOM else {
            self.init(red: named.red, green: named.green, blue: named.blue, white: white)
            return
        }
        self.init(
            red: Self.chromaticity(encoding.primaries_red_xy),
            green: Self.chromaticity(encoding.primaries_green_xy),
            blue: Self.chromaticity(encoding.primaries_blue_xy), white: white)
    }

    private static func chromaticity(_ xy: (Double, Double)) -> SIMD2<Double> {
        SIMD2(xy.0, xy.1)
    }
}
