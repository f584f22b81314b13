/// The colours of pixels in a file that states them without an ICC profile: by the code points of
/// ITU-T H.273, or by numbers of the same kind.
package struct ColourDescription: Hashable, Sendable {
    /// From a sample, 0…1, to light.
    package enum Transfer: Hashable, Sendable {
        case sRGB
        /// ITU-R BT.709, as light of a scene.
        case bt709
        case gamma(Double)
        /// SMPTE ST 2084: candelas per square metre, up to 10 000.
        case pq
        /// Hybrid log-gamma of ITU-R BT.2100, shown at 1000 candelas per square metre.
        case hlg
    }

    /// The chromaticities of the primaries and of white, x and y.
    package struct Primaries: Hashable, Sendable {
        package let red: SIMD2<Double>
        package let green: SIMD2<Double>
        package let blue: SIMD2<Double>
        package let white: SIMD2<Double>

        package static let d65 = SIMD2(0.3127, 0.3290)
        package static let sRGB = Primaries(
            red: [0.64, 0.33], green: [0.30, 0.60], blue: [0.15, 0.06], white: d65)
    }

    package var primaries: Primaries
    package var transfer: Transfer
    /// The brightest light of the picture, in candelas per square metre; only `pq` and `hlg` look at it.
    package var peak = 1000.0
    /// Whether samples have the range of video: black is 16 and white 235, of 8 bits.
    package var isNarrow = false

    package var isSRGB: Bool { primaries == .sRGB && transfer == .sRGB && !isNarrow }

    /// Whether there may be light brighter than paper.
    package var isHDR: Bool { transfer == .pq || transfer == .hlg }

    /// Whether steps of samples are about those of sRGB, so that it makes no visible difference whether pixels
    /// are averaged before or after their colours are converted.
    package var hasStepsOfSRGB: Bool {
        switch transfer {
        case .sRGB, .bt709: true
        case .gamma(let exponent): (1.8...2.8).contains(exponent)
        case .pq, .hlg: false
        }
    }
}

extension ColourDescription {
    /// - Parameters:
    ///   - primaries: The code point of the primaries; what is reserved or not stated means BT.709.
    ///   - transfer: The code point of the transfer characteristics. Those of video (BT.709 and its kin)
    ///     mean sRGB, as for all who show pictures.
    /// - Returns: `nil` for logarithmic characteristics, which no pictures have.
    package init?(primaries: Int, transfer: Int) {
        switch transfer {
        case 4: self.transfer = .gamma(2.2)
        case 5: self.transfer = .gamma(2.8)
        case 8: self.transfer = .gamma(1)
        case 9, 10: return nil
        case 16: self.transfer = .pq
        case 17: self.transfer = .gamma(2.6)
        case 18: self.transfer = .hlg
        default: self.transfer = .sRGB
        }
        self.primaries = Primaries(codePoint: primaries)
    }
}

extension ColourDescription.Primaries {
    fileprivate init(codePoint: Int) {
        let illuminantC = SIMD2(0.310, 0.316)
        switch codePoint {
        case 4:
            self.init(
                red: [0.67, 0.33], green: [0.21, 0.71], blue: [0.14, 0.08], white: illuminantC)
        case 5:
            self.init(
                red: [0.64, 0.33], green: [0.29, 0.60], blue: [0.15, 0.06], white: Self.d65)
        case 6, 7:
            self.init(
                red: [0.630, 0.340], green: [0.310, 0.595], blue: [0.155, 0.070], white: Self.d65)
        case 8:
            self.init(
                red: [0.681, 0.319], green: [0.243, 0.692], blue: [0.145, 0.049],
                white: illuminantC)
        case 9: self = .bt2020
        case 10: self.init(red: [1, 0], green: [0, 1], blue: [0, 0], white: [1.0 / 3, 1.0 / 3])
        case 11: self = .p3(white: [0.314, 0.351])
        case 12: self = .p3(white: Self.d65)
        case 22:
            self.init(
                red: [0.630, 0.340], green: [0.295, 0.605], blue: [0.155, 0.077], white: Self.d65)
        default: self = .sRGB
        }
    }

    /// The primaries of ITU-R BT.2020 and BT.2100.
    package static let bt2020 = Self(
        red: [0.708, 0.292], green: [0.170, 0.797], blue: [0.131, 0.046], white: d65)

    /// The primaries of digital cinema; with the white D65 those of Display P3.
    package static func p3(white: SIMD2<Double>) -> Self {
        Self(red: [0.680, 0.320], green: [0.265, 0.690], blue: [0.150, 0.060], white: white)
    }
}

/// A matrix of three by three, as its columns.
struct ColourMatrix {
    let columns: (SIMD3<Double>, SIMD3<Double>, SIMD3<Double>)

    /// From linear light in `primaries` to that of sRGB. Whites are adapted by Bradford's method.
    init(from primaries: ColourDescription.Primaries) {
        let source = Self.toXYZ(primaries)
        let target = Self.toXYZ(.sRGB)
        let adaptation = Self.adaptation(
            from: Self.xyz(primaries.white), to: Self.xyz(ColourDescription.Primaries.d65))
        self = target.inverse * adaptation * source
    }

    /// From linear light of primaries beside a white of D50, the one of ICC profiles, to that of sRGB.
    init(fromD50 primaries: [SIMD3<Double>]) {
        let source = ColourMatrix(primaries[0], primaries[1], primaries[2])
        let adaptation = Self.adaptation(
            from: SIMD3(0.9642, 1, 0.8249), to: Self.xyz(ColourDescription.Primaries.d65))
        self = Self.toXYZ(.sRGB).inverse * adaptation * source
    }

    private init(_ a: SIMD3<Double>, _ b: SIMD3<Double>, _ c: SIMD3<Double>) {
        columns = (a, b, c)
    }

    static func * (left: ColourMatrix, right: SIMD3<Double>) -> SIMD3<Double> {
        left.columns.0 * right.x + left.columns.1 * right.y + left.columns.2 * right.z
    }

    static func * (left: ColourMatrix, right: ColourMatrix) -> ColourMatrix {
        ColourMatrix(left * right.columns.0, left * right.columns.1, left * right.columns.2)
    }

    private var inverse: ColourMatrix {
        let (a, b, c) = columns
        let (x, y, z) = (Self.cross(b, c), Self.cross(c, a), Self.cross(a, b))
        let determinant = (a * x).sum()
        return ColourMatrix(
            SIMD3(x.x, y.x, z.x) / determinant, SIMD3(x.y, y.y, z.y) / determinant,
            SIMD3(x.z, y.z, z.z) / determinant)
    }

    private static func cross(_ a: SIMD3<Double>, _ b: SIMD3<Double>) -> SIMD3<Double> {
        SIMD3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x)
    }

    /// The colour of luminance 1 with a chromaticity; of one without luminance, X, Y and Z as they are.
    private static func xyz(_ xy: SIMD2<Double>) -> SIMD3<Double> {
        let z = 1 - xy.x - xy.y
        return xy.y == 0 ? SIMD3(xy.x, 0, z) : SIMD3(xy.x / xy.y, 1, z / xy.y)
    }

    private static func toXYZ(_ primaries: ColourDescription.Primaries) -> ColourMatrix {
        let colours = ColourMatrix(
            xyz(primaries.red), xyz(primaries.green), xyz(primaries.blue))
        let amounts = colours.inverse * xyz(primaries.white)
        return ColourMatrix(
            colours.columns.0 * amounts.x, colours.columns.1 * amounts.y,
            colours.columns.2 * amounts.z)
    }

    private static func adaptation(
        from source: SIMD3<Double>, to target: SIMD3<Double>
    ) -> ColourMatrix {
        let bradford = ColourMatrix(
            SIMD3(0.8951, -0.7502, 0.0389), SIMD3(0.2664, 1.7135, -0.0685),
            SIMD3(-0.1614, 0.0367, 1.0296))
        let gains = (bradford * target) / (bradford * source)
        let scale = ColourMatrix(
            SIMD3(gains.x, 0, 0), SIMD3(0, gains.y, 0), SIMD3(0, 0, gains.z))
        return bradford.inverse * scale * bradford
    }
}
