import Foundation

/// The style of a drawing's root: style sheets, the attribute `style`, other attributes (CSS Cascade, section 6).
struct SVGRootStyle {
    /// With the stronger ones later.
    private var declared: [(rank: Int, declaration: SVGDeclarations.Declaration)] = []

    private static let names: Set = [
        "width", "height", "font-size", "background", "background-color",
    ]
    private static let rankOfStyle = 1 << 40
    private static let rankOfImportance = 1 << 50

    /// - Throws: `ImageCodingError` for styles of which it cannot be told what they refer to, and for sizes that
    ///   are not worked out.
    init(_ outline: SVGOutline, _ rules: [SVGStyleSheet.Rule]) throws(ImageCodingError) {
        guard let root = outline.elements.first else { return }
        var attributes = SVGDeclarations()
        for name in ["width", "height", "font-size"] {
            guard let value = root.attributes[name] else { continue }
            attributes.add(name, value.lowercased().trimmingCharacters(in: .whitespaces))
        }
        add(attributes, -1)
        // What other programs apply on conditions is refused, or does not count.
        for rule in rules where rule.conditions.isEmpty {
            let ranks = rule.selectors.compactMap { Self.specificity($0, of: root) }
            if let rank = ranks.max() { add(SVGDeclarations(rule.style), rank) }
        }
        if let style = root.attributes["style"] {
            add(SVGDeclarations(try SVGStyle(style)), Self.rankOfStyle)
        }
        let order = declared.indices.sorted { (declared[$0].rank, $0) < (declared[$1].rank, $1) }
        declared = order.map { declared[$0] }
        for name in ["width", "height"] {
            guard let part = declaration(name).flatMap({ Self.unread($0.value) }) else { continue }
            throw .unsupported(.SVG, reason: "\(part) in the \(name) of the drawing is not read")
        }
    }

    private mutating func add(_ declarations: SVGDeclarations, _ rank: Int) {
        for declaration in declarations.all where Self.names.contains(declaration.name) {
            let importance = declaration.isImportant ? Self.rankOfImportance : 0
            declared.append((rank + importance, declaration))
        }
    }

    /// The specificity of a selector of a name, classes and an identifier that the root matches; `nil` for others.
    private static func specificity(
        _ selector: ArraySlice<UInt8>, of root: SVGOutline.Element
    ) -> Int? {
        let text = String(decoding: selector, as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        guard !text.isEmpty, !text.contains(where: { " \t\n>+~[(".contains($0) })
        else { return nil }
        let classes = (root.attributes["class"] ?? "").split(whereSeparator: \.isWhitespace)
        var (sum, part) = (0, "")
        func count(_ part: String) -> Int? {
            switch part {
            case "", "*": 0
            case root.name: 1
            case ":root": 1 << 10
            case "#" + (root.attributes["id"] ?? ""): 1 << 20
            default: part.hasPrefix(".") && classes.contains(part.dropFirst()) ? 1 << 10 : nil
            }
        }
        for character in text {
            if ".#:".contains(character) {
                guard let found = count(part) else { return nil }
                (sum, part) = (sum + found, "")
            }
            part.append(character)
        }
        return count(part).map { sum + $0 }
    }

    // MARK: Sizes

    /// The declaration of a size that counts.
    private func declaration(_ name: String) -> (rank: Int, value: String)? {
        let found = declared.last {
            $0.declaration.name == name && Self.isSize($0.declaration.value)
        }
        return found.map { ($0.rank, $0.declaration.value) }
    }

    private static func isSize(_ value: String) -> Bool {
        pixels(value, ofFont: 16) != nil || value.hasSuffix("%") || unread(value) != nil
            || ["auto", "initial", "unset", "inherit"].contains(value)
    }

    /// The function in a length, or its unit of the window or of a font; `nil` for other lengths.
    private static func unread(_ length: String) -> String? {
        if let bracket = length.firstIndex(of: "(") {
            let isName = { (character: Character) in character.isLetter || character == "-" }
            return String(length[..<bracket].reversed().prefix(while: isName).reversed()) + "()"
        }
        let unit = unreadUnits.first {
            length.hasSuffix($0) && Double(length.dropLast($0.count)) != nil
        }
        return unit.map { "the unit \($0)" }
    }

    private static let unreadUnits: [String] = {
        let window = ["vw", "vh", "vi", "vb", "vmin", "vmax"]
        return window + ["d", "s", "l"].flatMap { size in window.map { size + $0 } }
            + ["cqw", "cqh", "cqi", "cqb", "cqmin", "cqmax"]
            + ["lh", "cap", "ic", "rlh", "rcap", "ric", "rex", "rch"]
    }()

    /// The pixels of a side; `nil` where none is stated.
    func length(_ name: String) -> Double? {
        let font = declaration("font-size").flatMap { Self.pixels($0.value, ofFont: 16) } ?? 16
        return declaration(name).flatMap { Self.pixels($0.value, ofFont: font) }
    }

    /// Whether librsvg may read another size than ``length(_:)`` off the attributes.
    func differs(_ name: String) -> Bool {
        guard let found = declaration(name) else { return false }
        let unit = found.value.drop { !$0.isLetter }
        return found.rank >= 0 || !["", "px", "pt", "pc", "mm", "cm", "in"].contains(unit)
    }

    /// The pixels of an absolute length; anything else leaves a size open.
    static func pixels(_ length: String, ofFont font: Double) -> Double? {
        let text = length.lowercased().trimmingCharacters(in: .whitespaces)
        let (unit, factor) = units.first { text.hasSuffix($0.0) } ?? ("", 1)
        let number = text.dropLast(unit.count)
        // There are numbers in Swift that are none here, such as those with 16 digits.
        guard number.allSatisfy({ "+-.e0123456789".contains($0) }), let number = Double(number),
            number >= 0
        else { return nil }
        // One that is larger than any number of Swift's is large, too.
        return min(number, 1e30) * (factor ?? font * (unit == "em" ? 1 : 0.5))
    }

    /// `nil` for units of the font.
    private static let units: [(String, Double?)] = [
        ("px", 1), ("pt", 96 / 72), ("pc", 16), ("mm", 96 / 25.4), ("cm", 96 / 2.54), ("in", 96),
        ("rem", 16), ("em", nil), ("ex", nil), ("ch", nil), ("q", 96 / 101.6),
    ]

    // MARK: Background

    /// The colour that is behind the drawing, if there is one.
    ///
    /// - Throws: `ImageCodingError` for a picture, and for colours that librsvg does not know.
    func backdrop() throws(ImageCodingError) -> String? {
        var refusal: ImageCodingError?
        for (_, declaration) in declared.reversed() where declaration.name.hasPrefix("background") {
            let value = declaration.value
            if let feature = SVGFeature.ofColour(value) {
                refusal = refusal ?? feature.refusal
                continue
            }
            if ["none", "transparent", "initial", "unset", "inherit", ""].contains(value) {
                return nil
            }
            // An address is not among the words.
            let isFunction = value.hasPrefix("rgb") || value.hasPrefix("hsl")
            let others = isFunction ? "(), .%/+-" : "#"
            guard value != "url",
                value.allSatisfy({ $0.isLetter || $0.isNumber || others.contains($0) })
            else { throw refusal ?? SVGFeature.background.refusal }
            return value
        }
        if let refusal { throw refusal }
        return nil
    }
}
