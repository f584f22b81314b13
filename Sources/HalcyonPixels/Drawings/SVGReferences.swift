import Foundation
import HalcyonWork

/// What the elements of a drawing refer to by their attributes and by its style sheets.
struct SVGReferences {
    /// What attributes or declarations say.
    private struct Statement {
        /// The elements that they refer to.
        var places: [Int] = []
        /// Nanoseconds for each pixel that a layer of its own takes; `nil` when there is none.
        var layer: Double?
        /// Nanoseconds for each pixel that its filters take which are not elements.
        var filters = 0.0
    }

    /// What is compared byte by byte, as librsvg does: texts that look alike are others.
    typealias Name = [UInt8]

    private let outline: SVGOutline
    /// Elements by their identifiers; which of several is meant is not for sure.
    private let places: [Name: [Int]]
    /// By the index of the element; of most elements there is none.
    private var statements: [Int: [Statement]] = [:]
    private var targets: [Int: [Int]] = [:]

    /// - Throws: `ImageCodingError` for styles of which it cannot be told what they refer to, and for what
    ///   refers to parts of drawings within URLs.
    init(_ outline: SVGOutline) throws(ImageCodingError) {
        self.outline = outline
        var places: [Name: [Int]] = [:]
        for (index, element) in outline.elements.enumerated() {
            guard let name = element.attributes["id"] else { continue }
            places[Array(name.utf8), default: []].append(index)
        }
        self.places = places
        for (index, element) in outline.elements.enumerated() {
            if let own = try statement(Self.style(of: element)) { statements[index] = [own] }
            for link in element.links where !Self.leadingElsewhere.contains(element.name) {
                // A picture, which has no parts.
                if element.name == "feImage", Self.isData(Array(link.utf8)) { continue }
                targets[index, default: []] += try self.places(named: Array(link.utf8))
            }
        }
        let rules = try rules(of: outline.styles)
        guard !rules.isEmpty else { return }
        for (index, element) in outline.elements.enumerated() {
            for key in Self.keys(of: element) {
                if let rule = rules[key] { statements[index, default: []].append(rule) }
            }
        }
    }

    /// What style sheets say, by what their rules are about: `.class`, `#identifier`, a name, or `*` where
    /// that is not so simple. In small letters.
    private func rules(of sheets: [String]) throws(ImageCodingError) -> [Name: Statement] {
        var styles: [Name: SVGStyle] = [:]
        for sheet in sheets {
            for rule in try SVGStyleSheet(sheet).rules where Self.matters(rule.style) {
                for selector in rule.selector.split(separator: UInt8(ascii: ",")) {
                    styles[Self.key(of: selector), default: SVGStyle()].add(rule.style)
                }
            }
        }
        var rules: [Name: Statement] = [:]
        for (key, style) in styles { rules[key] = try statement(style) }
        return rules
    }

    /// The elements that the links of another one name.
    func targets(of index: Int) -> [Int] { targets[index] ?? [] }

    private func places(named reference: [UInt8]) throws(ImageCodingError) -> [Int] {
        guard let mark = reference.lastIndex(of: UInt8(ascii: "#")) else { return [] }
        if Self.isData(reference) {
            throw .unsupported(.SVG, reason: "it refers to a part of a drawing within a URL")
        }
        return places[Array(reference[(mark + 1)...])] ?? []
    }

    /// Whether a reference has what it refers to within it.
    static func isData(_ reference: [UInt8]) -> Bool {
        DataURI.isScheme(of: reference, .lenient)
    }

    /// The filters, patterns, markers and so on of an element. What is defined inside of another element
    /// inherits the patterns and markers of that.
    func places(for index: Int) -> [Int] {
        var found = (statements[index] ?? []).flatMap(\.places)
        guard SVGWork.definitions.contains(outline.elements[index].name) else { return found }
        var place = index
        while let parent = outline.elements[place].parent {
            found += (statements[parent] ?? []).flatMap(\.places).filter {
                ["pattern", "marker"].contains(outline.elements[$0].name)
            }
            place = parent
        }
        return found
    }

    /// Nanoseconds for each pixel that filters take which are written as functions.
    func filters(of index: Int) -> Double {
        (statements[index] ?? []).reduce(0) { $0 + $1.filters }
    }

    /// Nanoseconds for each pixel that the element takes as a layer of its own; `nil` when it is none.
    func layer(of index: Int) -> Double? {
        (statements[index] ?? []).compactMap(\.layer).max()
    }

    /// What selectors name an element by.
    static func keys(of element: SVGOutline.Element) -> Set<Name> {
        var keys: Set<Name> = [Array("*".utf8), lowercased(element.name)]
        if let name = element.attributes["id"] { keys.insert(lowercased("#" + name)) }
        for name in (element.attributes["class"] ?? "").unicodeScalars
            .split(whereSeparator: \.properties.isWhitespace)
        {
            keys.insert(lowercased("." + String(name)))
        }
        return keys
    }

    private func statement(_ style: SVGStyle?) throws(ImageCodingError) -> Statement? {
        guard let style else { return nil }
        let isMasked = style.mentions("mask")
        let isBlended = style.mentions("blend")
        var statement = Statement()
        statement.filters = Double(style.filterFunctions) * SVGWork.filterFunction
        let isLayer =
            isMasked || isBlended || style.mentions("opacity") || style.mentions("clip")
            || style.mentions("filter") || style.mentions("isolat")
        if isLayer { statement.layer = (isMasked ? 5 : 0) + (isBlended ? 8 : 0) }
        for reference in style.references { statement.places += try places(named: reference) }
        return statement.places.isEmpty && statement.layer == nil ? nil : statement
    }

    /// What the attributes of an element say of how it is painted.
    private static func style(
        of element: SVGOutline.Element
    ) throws(ImageCodingError) -> SVGStyle? {
        var style: SVGStyle?
        for (name, value) in element.attributes where painting.contains(name) {
            let found = try SVGStyle(value, of: name == "style" ? "" : name)
            style = style ?? SVGStyle()
            style?.add(found)
        }
        return style
    }

    /// Attributes with which an element is painted.
    static let painting: Set = [
        "style", "filter", "mask", "fill", "stroke", "marker", "marker-start", "marker-mid",
        "marker-end", "opacity", "clip-path",
    ]

    /// Elements whose links name no elements.
    private static let leadingElsewhere: Set = ["a", "script", "image"]

    /// Whether what a rule says has to do with the work of drawing.
    private static func matters(_ style: SVGStyle) -> Bool {
        !style.references.isEmpty
            || (["blend", "opacity", "isolat", "filter"] as [StaticString]).contains {
                style.mentions($0)
            }
    }

    /// One of the things that an element has to be for a selector to mean it.
    static func key(of selector: ArraySlice<UInt8>) -> Name {
        let last = selector.split { " \t\r\n\u{C}>+~*".utf8.contains($0) }.last ?? []
        let mark = last.first == UInt8(ascii: ".") || last.first == UInt8(ascii: "#") ? 1 : 0
        let name = last.dropFirst(mark).prefix { isNameByte($0) }
        // What follows a name only says less of what is meant.
        let rest = last.dropFirst(mark + name.count).first
        guard !name.isEmpty, rest == nil || ".#:[".utf8.contains(rest ?? 0) else {
            return Array("*".utf8)
        }
        return last.prefix(mark + name.count).map(\.lowercased)
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), 0x80...:
            true
        default: false
        }
    }

    private static func lowercased(_ name: String) -> Name { name.utf8.map(\.lowercased) }
}
