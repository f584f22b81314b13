/// A style, or an attribute that is written like a part of one: its words, and what it refers to.
struct SVGStyle {
    /// In small letters, without comments, texts and addresses.
    private(set) var words: [UInt8] = []
    /// What `url(…)` and texts name.
    private(set) var references: [[UInt8]] = []

    init() {}

    /// - Throws: `ImageCodingError` for what cannot be told.
    init(_ text: String) throws(ImageCodingError) {
        var scanner = CSSScanner(text)
        while let piece = try scanner.next() { add(piece) }
    }

    mutating func add(_ piece: CSSScanner.Piece) {
        switch piece {
        case .byte(let byte): words.append(byte.lowercased)
        case .text(let text): references.append(text)
        }
    }

    /// Whether another style sheet may be imported: the word occurs, or may be written with escapes.
    var mayImport: Bool {
        words.contains(UInt8(ascii: "\\")) || words.contains("@import".utf8)
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
        guard isAtRule(prelude), style.mayImport,
            style.references.contains(where: SVGReferences.isData)
        else { return }
        throw .unsupported(.SVG, reason: "a style sheet is within a URL")
    }
}
