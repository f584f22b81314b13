import Foundation

/// What the elements of a drawing refer to by their attributes and by its style sheets.
struct SVGReferences {
    /// What attributes or declarations say.
    private struct Statement {
        /// The elements that they refer to.
        var places: [Int] = []
        /// Nanoseconds for each pixel that a layer of its own takes; `nil` when there is none.
        var layer: Double?
    }

    private let outline: SVGOutline
    /// Elements by their identifiers.
    private let places: [String: Int]
    /// By the index of the element; of most elements there is none.
    private var attributes: [Int: Statement] = [:]
    /// Of style sheets, by what their rules are about: `.class`, `#identifier`, a name, or `*` where that is
    /// not so simple.
    private var rules: [String: Statement] = [:]

    init(_ outline: SVGOutline) {
        self.outline = outline
        var places: [String: Int] = [:]
        var all: [Int] = []
        for (index, element) in outline.elements.enumerated() {
            if let name = element.attributes["id"] { places[name] = index }
            if Self.multiplying.contains(element.name) { all.append(index) }
        }
        self.places = places
        for (index, element) in outline.elements.enumerated() {
            attributes[index] = statement(element.attributes, all)
        }
        for (key, declarations) in Self.rules(in: outline.styles) {
            rules[key] = statement(["style": declarations], all)
        }
    }

    /// The element that the `href` of another one names.
    func target(of element: SVGOutline.Element) -> Int? {
        (element.attributes["href"]?.dropFirst()).flatMap { places[String($0)] }
    }

    /// The filters, patterns, markers and so on of an element. What is defined inside of another element
    /// inherits the patterns and markers of that.
    func places(for index: Int) -> [Int] {
        var found = statements(for: index).flatMap(\.places)
        guard SVGWork.definitions.contains(outline.elements[index].name) else { return found }
        var place = index
        while let parent = outline.elements[place].parent {
            found += statements(for: parent).flatMap(\.places).filter {
                ["pattern", "marker"].contains(outline.elements[$0].name)
            }
            place = parent
        }
        return found
    }

    /// Nanoseconds for each pixel that the element takes as a layer of its own; `nil` when it is none.
    func layer(of index: Int) -> Double? {
        statements(for: index).compactMap(\.layer).max()
    }

    private func statements(for index: Int) -> [Statement] {
        let own = attributes[index].map { [$0] } ?? []
        guard !rules.isEmpty else { return own }
        let element = outline.elements[index]
        var keys: Set = ["*", element.name]
        if let name = element.attributes["id"] { keys.insert("#" + name) }
        for name in (element.attributes["class"] ?? "").split(whereSeparator: \.isWhitespace) {
            keys.insert("." + name)
        }
        return own + keys.compactMap { rules[$0] }
    }

    /// - Parameter all: Whatever may be referred to so that it multiplies.
    private func statement(_ attributes: [String: String], _ all: [Int]) -> Statement? {
        let style = attributes["style"] ?? ""
        func says(_ name: String, _ word: String) -> Bool {
            attributes[name] != nil || style.contains(word)
        }
        let isMasked = says("mask", "mask")
        let isBlended = style.contains("blend")
        var statement = Statement()
        if isMasked || isBlended || says("opacity", "opacity") || says("clip-path", "clip")
            || says("filter", "filter") || style.contains("isolat")
        {
            statement.layer = (isMasked ? 5 : 0) + (isBlended ? 8 : 0)
        }
        for (name, value) in attributes where Self.referring(name, value) {
            if mayHideReference(value) {
                statement.places = all
                break
            }
            statement.places += value.components(separatedBy: "url(").dropFirst().compactMap {
                places[$0.prefix { $0 != ")" }.filter { !"#'\" ".contains($0) }]
            }
        }
        return statement.places.isEmpty && statement.layer == nil ? nil : statement
    }

    private static func referring(_ name: String, _ value: String) -> Bool {
        value.contains("url(") || value.contains("&") && painting.contains(name)
    }

    /// Whether entities may stand for a reference, or for a part of one.
    private func mayHideReference(_ value: String) -> Bool {
        guard value.contains("&") else { return false }
        var rest = value
        for known in ["&quot;", "&apos;", "&amp;", "&lt;", "&gt;"] {
            rest = rest.replacingOccurrences(of: known, with: "")
        }
        return rest.contains("&")
            && (rest.contains("(") || rest.contains("&#") || outline.hasEntitiesOfReferences)
    }

    /// Attributes with which an element is painted.
    static let painting: Set = [
        "style", "filter", "mask", "fill", "stroke", "marker-start", "marker-mid", "marker-end",
    ]

    private static let multiplying: Set = ["filter", "mask", "pattern", "marker"]

    /// Declarations that matter here, by what they are about.
    private static func rules(in styles: String) -> [String: String] {
        var rules: [String: String] = [:]
        for block in styles.components(separatedBy: "}") {
            let parts = block.components(separatedBy: "{")
            guard parts.count > 1, let declarations = parts.last,
                ["url(", "blend", "opacity", "isolat", "&"].contains(where: declarations.contains)
            else { continue }
            for selector in parts[parts.count - 2].split(separator: ",") {
                rules[key(of: selector), default: ""] += declarations + ";"
            }
        }
        return rules
    }

    /// One of the things that an element has to be for a selector to mean it.
    private static func key(of selector: Substring) -> String {
        let last = selector.split { " \t\r\n>+~/*".contains($0) }.last ?? ""
        let mark = last.first.map { ".#".contains($0) } == true ? 1 : 0
        let name = last.dropFirst(mark).prefix {
            $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_"
        }
        // What follows a name only says less of what is meant.
        let rest = last.dropFirst(mark + name.count).first ?? ":"
        guard !name.isEmpty, ".#:[".contains(rest) else { return "*" }
        return String(last.prefix(mark + name.count))
    }
}
