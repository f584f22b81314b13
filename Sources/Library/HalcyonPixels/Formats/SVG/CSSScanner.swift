import DirectCodecs

/// The bytes of a style without its comments, and with texts and addresses taken together.
struct CSSScanner {
    enum Piece {
        case byte(UInt8)
        /// Of a text in quotation marks or of `url(…)`, without escapes.
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

    /// What stands between `url(` and its end; `nil` for a text in quotation marks, which is read as any other.
    private mutating func address() -> Piece? {
        var start = place
        while start < bytes.count, Self.isSpace(bytes[start]) { start += 1 }
        if start < bytes.count, bytes[start] == 0x22 || bytes[start] == 0x27 { return nil }
        place = start
        var address = text(endingWith: UInt8(ascii: ")"))
        while let last = address.last, Self.isSpace(last) { address.removeLast() }
        return .text(address)
    }

    /// What stands up to `end`, which is passed.
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

    /// What an escape stands for, whose mark was passed.
    private mutating func escaped() -> [UInt8] {
        let digits = bytes[place...].prefix(6).prefix { Self.isDigit($0) }
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

    private static func isDigit(_ byte: UInt8) -> Bool {
        Unicode.Scalar(byte).properties.isASCIIHexDigit
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
