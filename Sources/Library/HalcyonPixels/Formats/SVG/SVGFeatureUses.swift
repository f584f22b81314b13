import Foundation

/// The features of ``SVGFeature`` that a drawing's look depends on.
struct SVGFeatureUses {
    /// In the order in which they are found.
    private(set) var features: [SVGFeature] = []

    init(
        _ outline: SVGOutline, _ rules: [SVGStyleSheet.Rule], _ shown: [Bool]
    ) throws(ImageCodingError) {
        var byKey: [SVGReferences.Name: Needs] = [:]
        var origins: [(keys: Set<SVGReferences.Name>, origin: SVGFeature)] = []
        for rule in rules {
            let style = SVGDeclarations(rule.style)
            guard let (selectors, needs) = Self.needs(of: rule, style) else { continue }
            let keys = Set(selectors.map(SVGReferences.key))
            for key in keys { byKey[key, default: Needs()].add(needs) }
            if let origin = style.origin { origins.append((keys, origin)) }
        }
        let rulesNeedNothing = byKey.values.allSatisfy(\.isEmpty)
        var found: Set<SVGFeature> = []
        // Words on a path, and in another language, may be missing from a drawing, but not be all of it.
        var words: [SVGFeature] = []
        var (paths, paintsOther) = (0, false)
        for (index, element) in outline.elements.enumerated() where shown[index] {
            var needs = Needs()
            let own = try Self.declarations(of: element)
            if let own { needs.take(own) }
            let turns = !origins.isEmpty && own?.turns ?? false
            if turns || !(rulesNeedNothing && needs.isEmpty) {
                let keys = SVGReferences.keys(of: element)
                for key in keys { if let more = byKey[key] { needs.add(more) } }
                if turns {
                    let named = keys.subtracting([Array("*".utf8)])
                    for rule in origins where !rule.keys.isDisjoint(with: named) {
                        needs.add(rule.origin)
                    }
                }
            }
            switch element.name {
            case "feDropShadow": needs.add(SVGFeature.dropShadow)
            case "textPath", "foreignObject":
                if let feature = SVGFeature.words[element.name],
                    element.hasLetters || !element.children.isEmpty
                {
                    words.append(feature)
                }
                // It has a path that need not be painted.
                if element.name == "textPath" { paths -= 1 }
            case "path": paths += 1
            case "text", "tspan": paintsOther = paintsOther || element.hasLetters
            default: paintsOther = paintsOther || Self.painted.contains(element.name)
            }
            for feature in needs.features(for: element, isRoot: index == 0)
            where found.insert(feature).inserted {
                features.append(feature)
            }
        }
        if paths <= 0, !paintsOther { features += words }
    }

    private static let painted: Set = [
        "rect", "circle", "ellipse", "line", "polyline", "polygon", "image", "use",
    ]

    /// The features that an element needs, and the colours that it has instead.
    private struct Needs {
        private struct Need: Hashable {
            let feature: SVGFeature
            var property = ""
            var element: String?
        }

        private var needs: Set<Need> = []
        /// The colours that are understood, and count where others are not.
        private var colours: Set<String> = []

        var isEmpty: Bool { needs.isEmpty }

        mutating func add(_ feature: SVGFeature) { needs.insert(Need(feature: feature)) }

        mutating func add(_ other: Needs) {
            needs.formUnion(other.needs)
            colours.formUnion(other.colours)
        }

        mutating func take(_ declarations: SVGDeclarations) {
            for declaration in declarations.all where !declaration.name.hasPrefix("--") {
                let (property, value) = (declaration.name, declaration.value)
                let isOfStyle = declaration.isOfStyle
                if SVGFeature.colours.contains(property) {
                    if let feature = SVGFeature.ofColour(value) {
                        needs.insert(Need(feature: feature, property: property))
                        continue
                    }
                    if !value.contains("var(") { colours.insert(property) }
                }
                // That of the root is painted elsewhere, and others have none.
                if property.hasPrefix("background") { continue }
                if value.contains("var(") { add(SVGFeature.variable) }
                if property == "transform", isOfStyle, let feature = SVGFeature.ofTransform(value) {
                    add(feature)
                }
                if let feature = SVGFeature.ofLength(property, value) {
                    needs.insert(Need(feature: feature, property: property))
                }
                for use in SVGFeature.usesByProperty[property] ?? []
                where use.isNeeded(value) && (use.element == nil || isOfStyle) {
                    needs.insert(
                        Need(feature: use.feature, property: property, element: use.element))
                }
            }
            if declarations.turns, let origin = declarations.origin { add(origin) }
        }

        func features(
            for element: SVGOutline.Element, isRoot: Bool
        ) -> [SVGFeature] {
            needs.filter { need in
                (need.element == nil || need.element == element.name)
                    && !colours.contains(need.property)
                    // These are sizes of the drawing.
                    && !(isRoot && ["width", "height"].contains(need.property))
            }.map(\.feature).sorted { $0.name < $1.name }
        }
    }

    /// The selectors of a rule that may matter to a picture that does not move, and what they need; `nil` for a rule
    /// that does not count.
    private static func needs(
        of rule: SVGStyleSheet.Rule, _ style: SVGDeclarations
    ) -> (selectors: [ArraySlice<UInt8>], needs: Needs)? {
        var needs = Needs()
        for condition in rule.conditions {
            guard let at = condition.firstIndex(of: "@") else { continue }
            let name = String(condition[at...].prefix { $0 == "@" || $0 == "-" || $0.isLetter })
            // Other programs than those that it is for have what stands beside it.
            guard let feature = SVGFeature.blocks[name] else { return nil }
            if name == "@media", CSSMedia.isOther(condition[at...].dropFirst(6)) { return nil }
            needs.add(feature)
        }
        if !rule.conditions.isEmpty, style.isOnlyMotion { return nil }
        if rule.isNesting { needs.add(SVGFeature.nesting) }
        var selectors: [ArraySlice<UInt8>] = []
        for selector in rule.selectors {
            let text = String(decoding: selector, as: UTF8.self)
            if dynamic.contains(where: { text.contains($0) }) { continue }
            for (word, feature) in SVGFeature.selectors where text.contains(word) {
                needs.add(feature)
            }
            selectors.append(selector)
        }
        needs.take(style)
        return (selectors, needs)
    }

    /// Parts of selectors for states that a picture is not in.
    private static let dynamic = [
        "::", ":hover", ":focus", ":active", ":target", ":visited", ":checked", ":disabled",
    ]

    /// An element's attributes as a style has them; `nil` where they say nothing of this.
    private static func declarations(
        of element: SVGOutline.Element
    ) throws(ImageCodingError) -> SVGDeclarations? {
        var declarations = SVGDeclarations()
        for (name, value) in element.attributes {
            let isTransform = name.hasPrefix("transform")
            if isTransform || SVGFeature.colours.contains(name) {
                declarations.add(name, value.lowercased())
            } else if SVGFeature.mayMatter(name, value) {
                let words = String(decoding: try SVGStyle(value).words, as: UTF8.self)
                declarations.add(name, words)
            }
        }
        // A style counts more than an attribute.
        if let style = element.attributes["style"] {
            declarations.all += SVGDeclarations(try SVGStyle(style)).all
        }
        return declarations.all.isEmpty ? nil : declarations
    }
}

/// The media of style sheets.
enum CSSMedia {
    /// Whether a list of conditions is of none that a picture on a light screen fulfils.
    static func isOther(_ list: some StringProtocol) -> Bool {
        let list = list.lowercased().split(separator: ",")
        return !list.isEmpty
            && list.allSatisfy { query in
                !query.contains("not ") && others.contains { query.contains($0) }
            }
    }

    private static let others = [
        "print", "speech", "dark", "reduce)", "prefers-contrast", "forced-colors", "inverted",
        "color-gamut", "dynamic-range",
    ]
}

/// The properties that attributes and a style set, in small letters; the last of a name counts.
struct SVGDeclarations {
    struct Declaration {
        let name: String
        let value: String
        var isOfStyle = false
        var isImportant = false
    }

    var all: [Declaration] = []

    init() {}

    mutating func add(_ attribute: String, _ value: String) {
        all.append(Declaration(name: attribute, value: value))
    }

    init(_ style: SVGStyle) {
        for declaration in style.words.split(separator: UInt8(ascii: ";")) {
            guard let colon = declaration.firstIndex(of: UInt8(ascii: ":")) else { continue }
            let value = declaration[declaration.index(after: colon)...]
            let mark = value.firstIndex(of: UInt8(ascii: "!"))
            let name = Self.text(declaration[..<colon])
            // Of most properties the value is of no interest.
            let isOfInterest =
                SVGFeature.properties.contains(name) || value.contains(UInt8(ascii: "("))
            let text = isOfInterest ? Self.text(value[..<(mark ?? value.endIndex)]) : ""
            all.append(
                Declaration(name: name, value: text, isOfStyle: true, isImportant: mark != nil))
        }
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        let end = bytes.lastIndex { $0 > 0x20 }.map { $0 + 1 } ?? bytes.startIndex
        return String(decoding: bytes[..<end].drop { $0 <= 0x20 }, as: UTF8.self)
    }

    private func value(_ name: String) -> String? { all.last { $0.name == name }?.value }

    /// Whether nothing in it changes a picture that does not move.
    var isOnlyMotion: Bool {
        all.allSatisfy { declaration in
            ["animation", "transition", "cursor", "pointer-events", "will-change"].contains {
                declaration.name.hasPrefix($0)
            }
        }
    }

    /// Whether what is drawn is transformed in such a way that it matters about which place.
    var turns: Bool {
        guard let transform = value("transform") else { return false }
        let functions = transform.split(separator: ")").compactMap { part in
            part.split(separator: "(", omittingEmptySubsequences: false).first.map {
                $0.trimmingCharacters(in: .whitespacesAndNewlines.union([","]))
            }
        }
        return transform.contains("(")
            && !functions.allSatisfy { $0.isEmpty || $0.hasPrefix("translate") }
    }

    /// By what a transformation is about another place than the origin of the drawing's units; `nil` when it
    /// is not.
    var origin: SVGFeature? {
        if let box = value("transform-box"), box.hasSuffix("-box"), box != "view-box" {
            return .transformBox
        }
        guard let origin = value("transform-origin") else { return nil }
        let isZero = origin.split { " ,\t\n".contains($0) }.allSatisfy { length in
            ["left", "top"].contains(length) || length.numbersAreZero
        }
        return isZero ? nil : .transformOrigin
    }
}

extension Substring {
    /// Whether a length is nothing.
    fileprivate var numbersAreZero: Bool {
        let numbers = String(self).numbers
        return !numbers.isEmpty && numbers.allSatisfy { $0 == 0 }
    }
}
