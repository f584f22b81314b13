import CVips

/// What the bands of a pixel mean.
public enum VipsInterpretation: Int, Sendable, CaseIterable {
    case multiband = 0
    case bw = 1
    case histogram = 10
    case xyz = 12
    case lab = 13
    case cmyk = 15
    case labq = 16
    case rgb = 17
    case cmc = 18
    case lch = 19
    case labs = 21
    case srgb = 22
    case yxy = 23
    case fourier = 24
    case rgb16 = 25
    case grey16 = 26
    case matrix = 27
    case scrgb = 28
    case hsv = 29

    /// The name that libvips gives the interpretation in operations such as `colourspace`.
    public var nickname: String {
        self == .bw ? "b-w" : String(describing: self)
    }

    /// The value of full opacity, and of white where the space has one, in the space's usual format.
    public var maximum: Double {
        self == .rgb16 || self == .grey16 ? 65535 : 255
    }

    init(_ interpretation: CVips.VipsInterpretation) {
        self = VipsInterpretation(rawValue: Int(interpretation.rawValue)) ?? .multiband
    }

    var cValue: CVips.VipsInterpretation {
        CVips.VipsInterpretation(rawValue: Int32(rawValue))
    }
}
