/// How a picture is mixed with what is under it; the raw values are CoreGraphics' own, as they are
/// part of cache keys.
public enum BlendMode: Int32, CaseIterable, Sendable {
    case normal = 0
    case multiply, screen, overlay, darken, lighten, colorDodge, colorBurn, softLight, hardLight
    case difference, exclusion
    case hue, saturation, color, luminosity
    case clear, copy, sourceIn, sourceOut, sourceAtop
    case destinationOver, destinationIn, destinationOut, destinationAtop, xor
    case plusDarker, plusLighter

    /// The name in text form.
    package var name: String { String(describing: self) }
}
