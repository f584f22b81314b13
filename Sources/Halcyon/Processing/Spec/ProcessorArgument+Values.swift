import Foundation

extension ProcessorArgument where Value == CGFloat {
    static func number(
        _ name: String, _ description: String, in range: ClosedRange<CGFloat>
    ) -> Self {
        Self(name, description) { text in
            SpecText.number(text).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    /// A length of at least 0.
    static func length(_ name: String) -> Self {
        number(name, "a length in points", in: 0...CGFloat.greatestFiniteMagnitude)
    }

    /// A number from 0 to 1.
    static func fraction(_ name: String) -> Self {
        number(name, "a number from 0 to 1", in: 0...1)
    }
}

extension ProcessorArgument where Value == CGSize {
    static let size = Self("size", "a size such as 200x100") { text in
        let sides = SpecText.numbers(text, separator: "x")
        guard sides.count == 2, sides.allSatisfy({ $0 > 0 }) else { return nil }
        return CGSize(width: sides[0], height: sides[1])
    }
}

extension ProcessorArgument where Value == CGPoint {
    static let anchor = Self("anchor", "a point such as 0.5,0.5") { text in
        let numbers = SpecText.numbers(text, separator: ",")
        guard numbers.count == 2, numbers.allSatisfy({ (0...1).contains($0) }) else { return nil }
        return CGPoint(x: numbers[0], y: numbers[1])
    }
}

extension ProcessorArgument where Value == Color {
    static let color = Self("color", "a colour such as #ff0000 or #ff000080") { text in
        SpecText.color(text)
    }
}

extension ProcessorArgument where Value == Radius {
    static let radius = Self("radius", "a radius such as 20, w0.5 or h0.5") { text in
        @Sendable func length(_ text: Substring) -> CGFloat? {
            SpecText.number(String(text)).flatMap { $0 >= 0 ? $0 : nil }
        }
        return switch text.first {
        case "w": length(text.dropFirst()).map(Radius.widthFraction)
        case "h": length(text.dropFirst()).map(Radius.heightFraction)
        default: length(text[...]).map(Radius.point)
        }
    }
}

extension ProcessorArgument where Value == RectCorner {
    static let corners = Self("corners", "corners such as topLeft+bottomRight") { text in
        var corners: RectCorner = []
        for name in text.split(separator: "+", omittingEmptySubsequences: false) {
            guard let entry = SpecText.corners.first(where: { $0.name == name }) else { return nil }
            corners.formUnion(entry.corner)
        }
        return corners
    }
}
