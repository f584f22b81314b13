import Foundation

/// Takes from CSS what would load something: style sheets, and pictures and fonts that are not in the text.
enum StyleSanitizer {
    /// The same style without what loads; `nil` where it cannot be told what it says.
    static func sanitized(_ style: String) -> String? {
        // Escapes can spell any name.
        guard !style.contains("\\") else { return nil }
        let plain = withoutImports(withoutComments(style))
        let lowercased = plain.lowercased()
        guard !refused.contains(where: lowercased.contains) else { return nil }
        return withoutReferences(plain)
    }

    /// Whether a value that is no style of its own, such as that of `fill`, loads something.
    static func loads(_ value: String) -> Bool {
        guard value.contains("(") else { return false }
        return sanitized(value) != value
    }

    /// Functions that load what a string names, and ways of old browsers to run something.
    private static let refused = [
        "image(", "image-set(", "src(", "expression(", "behavior:", "-moz-binding",
    ]

    /// Kinds of data that are pictures or fonts and nothing that could have parts of its own.
    private static let data = [
        "data:image/png", "data:image/jpeg", "data:image/gif", "data:image/webp", "data:image/avif",
        "data:font/", "data:application/font", "data:application/x-font",
    ]

    /// Whether a reference leads to a part of the same document, or to a picture within it.
    static func isInside(_ reference: some StringProtocol, allowsData: Bool) -> Bool {
        let text = reference.drop { $0.isWhitespace }.lowercased()
        return text.hasPrefix("#") || allowsData && data.contains(where: text.hasPrefix)
    }

    private static func withoutComments(_ style: String) -> String {
        var parts = style.components(separatedBy: "/*")
        let first = parts.removeFirst()
        return parts.reduce(into: first) { text, part in
            // A comment without an end goes on to the end of the style.
            guard let end = part.range(of: "*/") else { return }
            text += " " + part[end.upperBound...]
        }
    }

    private static func withoutImports(_ style: String) -> String {
        var style = style
        while let start = style.range(of: "@import", options: .caseInsensitive)?.lowerBound {
            let end = style[start...].firstIndex(of: ";").map(style.index(after:))
            style.removeSubrange(start..<(end ?? style.endIndex))
        }
        return style
    }

    private static func withoutReferences(_ style: String) -> String {
        var result = ""
        var rest = style[...]
        while let start = rest.range(of: "url(", options: .caseInsensitive) {
            result += rest[..<start.lowerBound]
            let inside = rest[start.upperBound...].drop(while: \.isWhitespace)
            let quote = inside.first.flatMap { $0 == "\"" || $0 == "'" ? $0 : nil }
            let target = quote == nil ? inside : inside.dropFirst()
            let length = target.prefix { quote == nil ? $0 != ")" : $0 != quote }
            // Without an end, it is one to browsers all the same.
            let end = target[length.endIndex...].firstIndex(of: ")").map(rest.index(after:))
            let reference = rest[start.lowerBound..<(end ?? rest.endIndex)]
            result += isInside(length, allowsData: true) ? String(reference) : "none"
            rest = rest[(end ?? rest.endIndex)...]
        }
        return result + rest
    }
}
