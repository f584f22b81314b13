import DirectCodecs
import HalcyonWork

/// A style, or an attribute that is written like a part of one: its words, and what it refers to.
struct SVGStyle {
    /// In small letters, without comments, texts and addresses.
    private(set) var words: [UInt8] = []
    /// The references in `url(…)` and in quoted text.
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

struct SVGStyleSheet {
    struct Rule {
        /// As it is written, without comments and texts.
        let selector: [UInt8]
        let style: SVGStyle
        /// The beginnings of the blocks around it, such as `@media print`, in small letters.
        let conditions: [String]
        /// Whether there are rules within it.
        let isNesting: Bool

        var selectors: [ArraySlice<UInt8>] { selector.split(separator: UInt8(ascii: ",")) }
    }

    private(set) var rules: [Rule] = []

    /// The construct that contains a piece.
    private enum Part {
        case list(condition: String)
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
        var isNesting = false
        func rule(_ selector: [UInt8]) -> Rule {
            let conditions = parts.compactMap { part in
                if case .list(let condition) = part { condition } else { nil }
            }
            return Rule(
                selector: selector, style: style, conditions: conditions, isNesting: isNesting)
        }

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
                // A block may be a value, too.
                let last = style.words.last { !" \t\r\n\u{C}".utf8.contains($0) }
                if isRule, last != UInt8(ascii: ":") { isNesting = true }
            case UInt8(ascii: "{"):
                try Self.checkImport(prelude, style)
                let condition = String(decoding: prelude, as: UTF8.self).lowercased()
                parts.append(
                    Self.isAtRule(prelude)
                        ? .list(condition: condition) : .rule(selector: prelude))
                (prelude, style, isNesting) = ([], SVGStyle(), false)
                continue
            case UInt8(ascii: "}") where brackets.isEmpty:
                if case .rule(let selector)? = parts.popLast() { rules.append(rule(selector)) }
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
            rules.append(rule(selector))
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

/// The bytes of a style without its comments, and with texts and addresses taken together.
struct CSSScanner {
    enum Piece {
        case byte(UInt8)
        /// The content of a quoted text or of `url(…)`, without escapes.
        case text([UInt8])
    }

    private let bytes: [UInt8]
    private var place = 0
    /// Letters right before `place`, in small ones: the name of a function, if a bracket follows.
    private var word: [UInt8] = []
    private var hasEscapes = false

    init(_ text: String) { bytes = Array(text.utf8) }

    /// - Throws: `ImageCodingError` for a function whose name is written with escapes: it may be one that is
    ///   read in another way.
    mutating func next() throws(ImageCodingError) -> Piece? {
        if starts(with: "/*") {
            place += 2
            while place < bytes.count, !starts(with: "*/") { place += 1 }
            return separator(2)
        }
        // The mark of a comment in HTML, which says nothing here.
        if starts(with: "<!--") { return separator(4) }
        guard place < bytes.count else { return nil }
        let byte = bytes[place]
        place += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "'"):
            endWord()
            return .text(text(endingWith: byte))
        case UInt8(ascii: "\\"):
            hasEscapes = true
            // What it stands for has no meaning but that of a letter.
            if place < bytes.count { _ = escaped() }
            return .byte(byte)
        case UInt8(ascii: "("):
            if hasEscapes {
                throw .unsupported(.SVG, reason: "a name in its styles is written with escapes")
            }
            let isAddress = word == Array("url".utf8)
            endWord()
            guard isAddress else { return .byte(byte) }
            return address() ?? .byte(byte)
        case UInt8(ascii: "@"), UInt8(ascii: "#"),
            _ where byte.isNameByte:
            // Longer ones are of no interest, but do not become another name by that.
            if word.count < 20 { word.append(byte.lowercased) }
        default: endWord()
        }
        return .byte(byte)
    }

    /// Passes `count` bytes that separate words.
    private mutating func separator(_ count: Int) -> Piece {
        place = min(place + count, bytes.count)
        endWord()
        return .byte(UInt8(ascii: " "))
    }

    private mutating func endWord() {
        word.removeAll(keepingCapacity: true)
        hasEscapes = false
    }

    /// Reads the address up to the end of `url(…)`; `nil` for a quoted one, which is read as other
    /// quoted text.
    private mutating func address() -> Piece? {
        var start = place
        while start < bytes.count, Self.isSpace(bytes[start]) { start += 1 }
        if start < bytes.count, bytes[start] == 0x22 || bytes[start] == 0x27 { return nil }
        place = start
        var address = text(endingWith: UInt8(ascii: ")"))
        while let last = address.last, Self.isSpace(last) { address.removeLast() }
        return .text(address)
    }

    /// Reads text up to `end`, and skips `end`.
    private mutating func text(endingWith end: UInt8) -> [UInt8] {
        var text: [UInt8] = []
        while place < bytes.count {
            let byte = bytes[place]
            place += 1
            if byte == end { break }
            // A text does not go on beyond its line.
            if Self.isLineEnd(byte), end != UInt8(ascii: ")") { break }
            guard byte == UInt8(ascii: "\\"), place < bytes.count else {
                text.append(byte)
                continue
            }
            text += escaped()
        }
        return text
    }

    /// Reads the character of an escape whose backslash has been read.
    private mutating func escaped() -> [UInt8] {
        let digits = bytes[place...].prefix(6).prefix { UInt8(hexadecimalDigit: $0) != nil }
        guard !digits.isEmpty else {
            place += 1
            // It joins two lines.
            return Self.isLineEnd(bytes[place - 1]) ? [] : [bytes[place - 1]]
        }
        place += digits.count
        if place < bytes.count, Self.isSpace(bytes[place]) { place += 1 }
        let number = UInt32(String(decoding: digits, as: UTF8.self), radix: 16) ?? 0
        return Array(String(Unicode.Scalar(number) ?? "\u{FFFD}").utf8)
    }

    private func starts(with text: StaticString) -> Bool {
        guard bytes[place...].first == text.utf8Start.pointee else { return false }
        return text.withUTF8Buffer { bytes[place...].starts(with: $0) }
    }

    private static func isLineEnd(_ byte: UInt8) -> Bool {
        byte == 0x0A || byte == 0x0C || byte == 0x0D
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || isLineEnd(byte)
    }
}

extension UInt8 {
    /// Letters of ASCII as small ones.
    var lowercased: UInt8 { (0x41...0x5A).contains(self) ? self | 0x20 : self }
}
