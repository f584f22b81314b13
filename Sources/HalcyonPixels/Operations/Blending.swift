/// The blend functions and operators of W3C's Compositing and Blending Level 1 (sections 9 and 10),
/// which are those of PDF and CoreGraphics too.
enum Blending: Sendable {
    /// The mixed colour of two channels, where both pictures are opaque.
    typealias Channel = @Sendable (_ backdrop: Float, _ source: Float) -> Float
    /// The mixed colour of two pixels (red, green, blue), where both pictures are opaque.
    typealias Pixel = @Sendable (_ backdrop: SIMD3<Float>, _ source: SIMD3<Float>) -> SIMD3<Float>
    /// The parts of source and backdrop, given the opacity of both.
    typealias Parts =
        @Sendable (_ backdrop: Float, _ source: Float) -> (source: Float, backdrop: Float)

    case normal
    case separable(Channel)
    case nonseparable(Pixel)
    case porterDuff(Parts)
    case plusDarker
    case plusLighter

    /// Source over backdrop, both straight RGBA, each component 0…1.
    func composite(_ source: SIMD4<Float>, over backdrop: SIMD4<Float>) -> SIMD4<Float> {
        let (a, b) = (source.w, backdrop.w)
        let (s, d) = (source.xyz, backdrop.xyz)
        switch self {
        case .normal:
            return Self.straight(s * a + d * (b * (1 - a)), a + b - a * b)
        case .separable(let function):
            let mixed = SIMD3(function(d.x, s.x), function(d.y, s.y), function(d.z, s.z))
            return Self.blended(mixed, source: source, backdrop: backdrop)
        case .nonseparable(let function):
            return Self.blended(function(d, s), source: source, backdrop: backdrop)
        case .porterDuff(let parts):
            let part = parts(b, a)
            let (x, y) = (part.source * a, part.backdrop * b)
            return Self.straight(s * x + d * y, x + y)
        case .plusDarker:
            let opacity = min(1, a + b)
            let light = SIMD3(repeating: opacity - a - b) + s * a + d * b
            return Self.straight(light.replacing(with: 0, where: light .< 0), opacity)
        case .plusLighter:
            let light = s * a + d * b
            return Self.straight(light.replacing(with: 1, where: light .> 1), min(1, a + b))
        }
    }

    private static func blended(
        _ mixed: SIMD3<Float>, source: SIMD4<Float>, backdrop: SIMD4<Float>
    ) -> SIMD4<Float> {
        let (a, b) = (source.w, backdrop.w)
        let colour = source.xyz * (1 - b) + mixed * b
        return straight(colour * a + backdrop.xyz * (b * (1 - a)), a + b - a * b)
    }

    private static func straight(_ colour: SIMD3<Float>, _ alpha: Float) -> SIMD4<Float> {
        alpha > 0 ? SIMD4(colour / alpha, alpha) : .zero
    }
}

extension SIMD4 {
    var xyz: SIMD3<Scalar> { SIMD3(x, y, z) }
}
