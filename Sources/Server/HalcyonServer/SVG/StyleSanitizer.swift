/// Removes everything from CSS that would load style sheets, or pictures and fonts not in the text.
enum StyleSanitizer {
    /// Returns the style without anything that loads; `nil` where its meaning is uncertain.
    static func sanitized(_ style: String) -> String? {
        let bytes = Array(style.utf8)
        // Escapes can spell any name.
        guard !bytes.contains(UInt8(ascii: "\\")) else { return nil }
        let plain = CSSText(bytes).withoutComments.withoutImports
        // The removals may have joined new ones.
        guard !refused.contains(where: { plain.place(of: $0, from: 0) != nil }) else { return nil }
        return plain.withoutReferences.text
    }

    /// Whether a value outside of styles, such as that of `fill`, loads something.
    static func loads(_ value: String) -> Bool {
        guard value.utf8.contains(UInt8(ascii: "(")) else { return false }
        return sanitized(value) != value
    }

    /// Functions that load the target of a string, and ways of old browsers to run something.
    private static let refused: [StaticString] = [
        "@import", "image(", "image-set(", "src(", "expression(", "behavior:", "-moz-binding",
    ]

    /// Media types for pictures and fonts that cannot have parts of their own.
    private static let data = [
        "data:image/png", "data:image/jpeg", "data:image/gif", "data:image/webp", "data:image/avif",
        "data:font/", "data:application/font", "data:application/x-font",
    ]

    /// Whether a reference leads to a part of the same document, or to a picture embedded in it.
    static func isInside(_ reference: String, allowsData: Bool) -> Bool {
        let start = reference.drop { $0.isWhitespace }.prefix(40).lowercased()
        return start.hasPrefix("#") || allowsData && data.contains(where: start.hasPrefix)
    }
}

/// The bytes of a style, searched without regard to case, in one pass whatever they are.
private struct CSSText {
    private let bytes: [UInt8]
    private let lowercased: [UInt8]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        lowercased = bytes.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
    }

    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// - Parameter name: In lower case.
    func place(of name: StaticString, from start: Int) -> Int? {
        name.withUTF8Buffer { name in
            var place = start
            while place + name.count <= lowercased.count {
                if lowercased[place] == name[0],
                    lowercased[place..<place + name.count].elementsEqual(name)
                {
                    return place
                }
                place += 1
            }
            return nil
        }
    }

    /// With a space in place of each comment.
    var withoutComments: CSSText {
        replacing("/*") { start in
            // A comment without an end goes on to the end of the style.
            (place(of: "*/", from: start + 2).map { $0 + 2 } ?? bytes.count, " ")
        }
    }

    var withoutImports: CSSText {
        replacing("@import") { start in
            (bytes[start...].firstIndex(of: UInt8(ascii: ";")).map { $0 + 1 } ?? bytes.count, "")
        }
    }

    /// With `none` in place of references that lead out of the document.
    var withoutReferences: CSSText {
        replacing("url(") { start in
            var inside = bytes[(start + 4)...].drop { " \t\r\n\u{C}".utf8.contains($0) }
            let quote = inside.first.flatMap { $0 == 0x22 || $0 == 0x27 ? $0 : nil }
            if quote != nil { inside = inside.dropFirst() }
            let target = inside.prefix { $0 != quote ?? UInt8(ascii: ")") }
            // Browsers accept it without an end, too.
            let end = bytes[target.endIndex...].firstIndex(of: UInt8(ascii: ")")) ?? bytes.count - 1
            let reference = String(decoding: target, as: UTF8.self)
            let isInside = StyleSanitizer.isInside(reference, allowsData: true)
            return (end + 1, isInside ? nil : "none")
        }
    }

    /// With another text in place of each piece that begins with a name.
    ///
    /// - Parameter piece: Returns the end of the piece that begins at `start`, and the other text; `nil` to
    ///   leave the piece.
    private func replacing(
        _ name: StaticString, by piece: (_ start: Int) -> (end: Int, text: String?)
    ) -> CSSText {
        var result: [UInt8] = []
        var place = 0
        while let start = self.place(of: name, from: place) {
            let (end, text) = piece(start)
            result += bytes[place..<start]
            result += text.map { Array($0.utf8) } ?? Array(bytes[start..<end])
            place = end
        }
        return CSSText(result + bytes[place...])
    }
}
