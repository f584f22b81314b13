import Foundation
import HalcyonWork

enum SpecText {
    static let corners: [(name: String, corner: RectCorner)] = [
        ("topLeft", .topLeft), ("topRight", .topRight), ("bottomLeft", .bottomLeft),
        ("bottomRight", .bottomRight), ("all", .all), ("none", []),
    ]

    private static let namedColors: [String: Color] = [
        "black": .black, "white": .white, "gray": .gray, "red": .red, "green": .green,
        "blue": .blue, "yellow": .yellow, "clear": .clear,
    ]

    enum Sides: String {
        case both, horizontal, vertical, none

        init(horizontally: Bool, vertically: Bool) {
            switch (horizontally, vertically) {
            case (true, true): self = .both
            case (true, false): self = .horizontal
            case (false, true): self = .vertical
            case (false, false): self = .none
            }
        }

        var areHorizontal: Bool { self == .both || self == .horizontal }
        var areVertical: Bool { self == .both || self == .vertical }
    }

    static func number(_ text: String) -> CGFloat? {
        guard text.allSatisfy({ "+-.0123456789e".contains($0) }), let number = Double(text),
            number.isFinite
        else {
            return nil
        }
        return CGFloat(number)
    }

    /// Returns the numbers of a list; empty if one of them is not a number.
    static func numbers(_ text: String, separator: Character) -> [CGFloat] {
        let parts = text.split(separator: separator, omittingEmptySubsequences: false)
        let numbers = parts.compactMap { number(String($0)) }
        return numbers.count == parts.count ? numbers : []
    }

    /// Parses a colour: `#rgb`, `#rrggbb`, `#rrggbbaa`, `rgba(0.1,0.2,0.3,1)` or a name such as
    /// `black`.
    static func color(_ text: String) -> Color? {
        if let named = namedColors[text] { return named }
        if text.hasPrefix("#") { return hexadecimalColor(text.dropFirst()) }
        guard text.hasPrefix("rgba("), text.hasSuffix(")") else { return nil }
        let components = numbers(String(text.dropFirst(5).dropLast()), separator: ",")
        guard components.count == 4 else { return nil }
        return Color(
            red: components[0], green: components[1], blue: components[2], alpha: components[3])
    }

    private static func hexadecimalColor(_ digits: Substring) -> Color? {
        guard digits.allSatisfy(\.isHexDigit) else { return nil }
        let long = digits.count == 3 ? String(digits.flatMap { [$0, $0] }) : String(digits)
        guard long.count == 6 || long.count == 8, let number = UInt32(long, radix: 16) else {
            return nil
        }
        let bits = long.count == 6 ? number << 8 | 0xff : number
        let components = [24, 16, 8, 0].map { CGFloat((bits >> UInt32($0)) & 0xff) / 255 }
        return Color(
            red: components[0], green: components[1], blue: components[2], alpha: components[3])
    }
}

/// A value in the text form of processors, as `ProcessorArgument` reads it.
protocol SpecValue {
    var specText: String { get }
}

extension CGFloat: SpecValue {
    var specText: String {
        let text = "\(self)"
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}

extension CGSize: SpecValue {
    var specText: String { "\(width.specText)x\(height.specText)" }
}

extension CGPoint: SpecValue {
    var specText: String { "\(x.specText),\(y.specText)" }
}

extension Radius: SpecValue {
    var specText: String {
        switch self {
        case .widthFraction(let fraction): "w\(fraction.specText)"
        case .heightFraction(let fraction): "h\(fraction.specText)"
        case .point(let length): length.specText
        }
    }
}

extension RectCorner: SpecValue {
    var specText: String {
        if let named = SpecText.corners.first(where: { $0.corner == self }) { return named.name }
        return SpecText.corners.prefix(4).filter { contains($0.corner) }.map(\.name)
            .joined(separator: "+")
    }
}

extension Color: SpecValue {
    /// Two digits per component if that is exact.
    var specText: String {
        let components = [red, green, blue, alpha]
        let bytes = components.map { ($0 * 255).rounded() }
        guard zip(bytes, components).allSatisfy({ (0...255).contains($0) && $0 / 255 == $1 }) else {
            return "rgba(\(components.map(\.specText).joined(separator: ",")))"
        }
        let told = bytes.prefix(alpha == 1 ? 3 : 4)
        return "#" + String(hexadecimal: told.map { UInt8($0) })
    }
}

extension String: SpecValue {
    var specText: String { self }
}

extension Equatable {
    /// The value; `nil` for the usual one, which need not be written.
    func unless(_ usual: Self) -> Self? { self == usual ? nil : self }
}
