/// An `ETag` as it was received (RFC 9110, section 8.8.3).
///
/// Many servers write it without quotes and compare it as text, so that it is kept and sent back
/// byte for byte, whatever its syntax.
package struct EntityTag: Sendable, Hashable {
    package let text: String

    package init(_ text: String) {
        self.text = text
    }

    package init?(of fields: HTTPFields) {
        guard let text = fields.first("ETag") else { return nil }
        self.init(text)
    }

    package var isWeak: Bool {
        text.utf8.starts(with: "W/".utf8) || text.utf8.starts(with: "w/".utf8)
    }

    /// Whether it can be sent back: it is not empty, not over 8 KiB long, and has come as it was
    /// sent. Bytes that are no UTF-8 have become U+FFFD on the way, and NUL, CR and LF would end
    /// the field. `*` would ask for any representation at all (RFC 9110, section 13.1.2), so that a server
    /// always says that nothing has changed.
    package var isUsable: Bool {
        !text.isEmpty && text.utf8.count <= 8192 && !hasAnyMark
            && !text.unicodeScalars.contains { $0 == "\u{FFFD}" || $0.isControl }
    }

    /// Whether `*` is a member of it, outside of quotes.
    private var hasAnyMark: Bool {
        var isQuoted = false
        return text.utf8.split(omittingEmptySubsequences: true) { byte in
            if byte == .quote { isQuoted.toggle() }
            return byte == .comma && !isQuoted
        }.contains { $0.trimming { $0 == .space || $0 == .tab }.elementsEqual("*".utf8) }
    }

    /// Whether two representations with it are the same byte for byte: it is not weak, and its
    /// syntax is right.
    package var isStrong: Bool {
        guard isUsable, !isWeak, text.utf8.count >= 2 else { return false }
        let bytes = text.utf8
        return bytes.first == .quote && bytes.last == .quote
            && bytes.dropFirst().dropLast().allSatisfy { $0 > 0x20 && $0 != .quote && $0 != 0x7F }
    }

    /// Compares weakly: the tags are equal, weak or not (RFC 9110, section 8.8.3.2).
    package func weaklyEquals(_ other: EntityTag) -> Bool {
        opaque.elementsEqual(other.opaque)
    }

    /// Compares strongly: the tags are equal, and both are strong.
    package func stronglyEquals(_ other: EntityTag) -> Bool {
        isStrong && other.isStrong && text.utf8.elementsEqual(other.text.utf8)
    }

    private var opaque: Substring.UTF8View {
        text.utf8.dropFirst(isWeak ? 2 : 0)
    }

    // Texts of different bytes are different tags, even where they are the same in Unicode.
    package static func == (one: EntityTag, other: EntityTag) -> Bool {
        one.text.utf8.elementsEqual(other.text.utf8)
    }
}

extension Unicode.Scalar {
    fileprivate var isControl: Bool { value < 0x20 && value != 0x09 || value == 0x7F }
}
