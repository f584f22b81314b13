/// The blending of a picture with its backdrop; the raw values are CoreGraphics' own, as they are
/// part of cache keys.
public enum BlendMode: Int32, CaseIterable, Sendable {
    case normal = 0
    case multiply, screen, overlay, darken, lighten, colorDodge, colorBurn, softLight, hardLight
    case difference, exclusion
    case hue, saturation, color, luminosity
    case clear, copy, sourceIn, sourceOut, sourceAtop
    case destinationOver, destinationIn, destinationOut, destinationAtop, xor
    case plusDarker, plusLighter

    package var name: String { String(describing: self) }
}

extension BlendMode {
    var blending: Blending {
        switch self {
        case .normal: .normal
        case .multiply: .separable { $0 * $1 }
        case .screen: .separable(Self.screen)
        case .overlay: .separable { Self.hardLight($1, $0) }
        case .darken: .separable { min($0, $1) }
        case .lighten: .separable { max($0, $1) }
        case .colorDodge: .separable { $0 == 0 ? 0 : $1 >= 1 ? 1 : min(1, $0 / (1 - $1)) }
        case .colorBurn: .separable { $0 >= 1 ? 1 : $1 <= 0 ? 0 : 1 - min(1, (1 - $0) / $1) }
        case .softLight: .separable(Self.softLight)
        case .hardLight: .separable(Self.hardLight)
        case .difference: .separable { abs($0 - $1) }
        case .exclusion: .separable { $0 + $1 - 2 * $0 * $1 }
        case .hue:
            .nonseparable { $1.with(saturation: $0.saturation).with(luminosity: $0.luminosity) }
        case .saturation:
            .nonseparable { $0.with(saturation: $1.saturation).with(luminosity: $0.luminosity) }
        case .color: .nonseparable { $1.with(luminosity: $0.luminosity) }
        case .luminosity: .nonseparable { $0.with(luminosity: $1.luminosity) }
        case .clear: .porterDuff { _, _ in (0, 0) }
        case .copy: .porterDuff { _, _ in (1, 0) }
        case .sourceIn: .porterDuff { backdrop, _ in (backdrop, 0) }
        case .sourceOut: .porterDuff { backdrop, _ in (1 - backdrop, 0) }
        case .sourceAtop: .porterDuff { backdrop, source in (backdrop, 1 - source) }
        case .destinationOver: .porterDuff { backdrop, _ in (1 - backdrop, 1) }
        case .destinationIn: .porterDuff { _, source in (0, source) }
        case .destinationOut: .porterDuff { _, source in (0, 1 - source) }
        case .destinationAtop: .porterDuff { backdrop, source in (1 - backdrop, source) }
        case .xor: .porterDuff { backdrop, source in (1 - backdrop, 1 - source) }
        case .plusDarker: .plusDarker
        case .plusLighter: .plusLighter
        }
    }

    @Sendable private static func screen(_ backdrop: Float, _ source: Float) -> Float {
        backdrop + source - backdrop * source
    }

    @Sendable private static func hardLight(_ backdrop: Float, _ source: Float) -> Float {
        source <= 0.5 ? backdrop * 2 * source : screen(backdrop, 2 * source - 1)
    }

    @Sendable private static func softLight(_ backdrop: Float, _ source: Float) -> Float {
        if source <= 0.5 {
            return backdrop - (1 - 2 * source) * backdrop * (1 - backdrop)
        }
        let bright =
            backdrop <= 0.25
            ? ((16 * backdrop - 12) * backdrop + 4) * backdrop : backdrop.squareRoot()
        return backdrop + (2 * source - 1) * (bright - backdrop)
    }
}

extension SIMD3<Float> {
    /// `Lum` of the specification.
    fileprivate var luminosity: Float { 0.3 * x + 0.59 * y + 0.11 * z }

    /// `Sat` of the specification.
    fileprivate var saturation: Float { self.max() - self.min() }

    /// `SetLum`, which moves all channels alike and clips towards grey.
    fileprivate func with(luminosity: Float) -> SIMD3 {
        let moved = self + (luminosity - self.luminosity)
        let grey = SIMD3(repeating: luminosity)
        let (low, high) = (moved.min(), moved.max())
        var result = moved
        if low < 0 { result = grey + (result - grey) * luminosity / (luminosity - low) }
        if high > 1 { result = grey + (result - grey) * (1 - luminosity) / (high - luminosity) }
        return result
    }

    /// `SetSat`, which keeps the order of the channels.
    fileprivate func with(saturation: Float) -> SIMD3 {
        let (low, range) = (self.min(), self.saturation)
        return range > 0 ? (self - low) * saturation / range : .zero
    }
}

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
