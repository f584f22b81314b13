/// What a style, or an attribute that is written like a part of one, says: as much of it as has to do with the
/// work of drawing.
struct SVGStyle {
    /// In small letters, without comments, texts and addresses.
    private(set) var words: [UInt8] = []
    /// What `url(…)` and texts name.
    private(set) var references: [[UInt8]] = []

    init() {}

    /// - Parameter property: What the text is the value of; by default it is a whole style.
    /// - Throws: `ImageCodingError` for what cannot be told.
    init(_ text: String, of property: String = "") throws(ImageCodingError) {
        words += property.utf8
        var scanner = CSSScanner(text)
        while let piece = try scanner.next() { add(piece) }
    }

    mutating func add(_ piece: CSSScanner.Piece) {
        switch piece {
        case .byte(let byte): words.append(byte.lowercased)
        case .text(let text): references.append(text)
        }
    }

    mutating func add(_ other: SVGStyle) {
        words.append(UInt8(ascii: ";"))
        words += other.words
        references += other.references
    }

    /// Whether a word occurs, or may be written with escapes.
    func mentions(_ word: StaticString) -> Bool {
        words.contains(UInt8(ascii: "\\")) || count(of: word) > 0
    }

    /// How many steps the functions of a filter are.
    var filterFunctions: Int {
        guard words.contains(UInt8(ascii: "(")), mentions("filter") else { return 0 }
        return Self.functions.reduce(0) { $0 + count(of: $1) }
    }

    private static let functions: [StaticString] = [
        "blur(", "brightness(", "contrast(", "drop-shadow(", "grayscale(", "hue-rotate(", "invert(",
        "opacity(", "saturate(", "sepia(",
    ]

    private func count(of word: StaticString) -> Int {
        word.withUTF8Buffer { word in
            var (count, rest) = (0, words[...])
            while let place = rest.firstIndex(of: word[0]) {
                rest = rest[place...]
                if rest.starts(with: word) { count += 1 }
                rest = rest.dropFirst()
            }
            return count
        }
    }
}

/// The rules of a style sheet.
struct SVGStyleSheet {
    /// The last selector of each group, as it is written, with what the rule says.
    private(set) var rules: [(selector: [UInt8], style: SVGStyle)] = []

    /// Within what a piece stands.
    private enum Part {
        case list
        case rule(selector: [UInt8])
    }

    /// - Throws: `ImageCodingError` for what cannot be told, and for style sheets within this one.
    init(_ sheet: String) throws(ImageCodingError) {
        var scanner = CSSScanner(sheet)
        var parts: [Part] = []
        // What ends the brackets that are open within a selector or a rule.
        var brackets: [UInt8] = []
        var style = SVGStyle()
        var prelude: [UInt8] = []

        while let piece = try scanner.next() {
            guard case .byte(let byte) = piece else {
                style.add(piece)
                continue
            }
            let isRule = if case .rule? = parts.last { true } else { false }
            switch byte {
            case _ where byte == brackets.last:
                brackets.removeLast()
            case UInt8(ascii: "("): brackets.append(UInt8(ascii: ")"))
            case UInt8(ascii: "["): brackets.append(UInt8(ascii: "]"))
            case UInt8(ascii: "{") where isRule || !brackets.isEmpty:
                brackets.append(UInt8(ascii: "}"))
            case UInt8(ascii: "{"):
                try Self.checkImport(prelude, style)
                parts.append(Self.isAtRule(prelude) ? .list : .rule(selector: prelude))
                (prelude, style) = ([], SVGStyle())
                continue
            case UInt8(ascii: "}") where brackets.isEmpty:
                if case .rule(let selector)? = parts.popLast() { rules.append((selector, style)) }
                (prelude, style) = ([], SVGStyle())
                continue
            case UInt8(ascii: ";") where !isRule && brackets.isEmpty:
                try Self.checkImport(prelude, style)
                (prelude, style) = ([], SVGStyle())
                continue
            default: break
            }
            style.add(piece)
            if !isRule { prelude.append(byte) }
        }
        // The end of the text ends all.
        if case .rule(let selector)? = parts.last {
            rules.append((selector, style))
        } else {
            try Self.checkImport(prelude, style)
        }
    }

    private static func isAtRule(_ prelude: [UInt8]) -> Bool {
        // Marks of comments of HTML may stand before it.
        prelude.first { !" \t\r\n\u{C}<!->".utf8.contains($0) } == UInt8(ascii: "@")
    }

    private static func checkImport(
        _ prelude: [UInt8], _ style: SVGStyle
    ) throws(ImageCodingError) {
        guard isAtRule(prelude), style.mentions("@import"),
            style.references.contains(where: SVGReferences.isData)
        else { return }
        throw .unsupported(.SVG, reason: "a style sheet is within a URL")
    }
}
