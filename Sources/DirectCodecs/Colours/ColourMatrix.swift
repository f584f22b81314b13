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
