extension Unicode.Scalar {
    /// The columns a terminal gives this scalar: 0, 1 or 2.
    var columns: Int {
        switch properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: break
        }
        return Self.wideRanges.contains { $0.contains(value) } ? 2 : 1
    }

    /// The blocks that East Asian scripts and pictographs fill with wide characters.
    private static let wideRanges: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97C, 0xAC00...0xD7A3,
        0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F,
        0x1F680...0x1F6FF, 0x1F900...0x1F9FF, 0x20000...0x3FFFD,
    ]
}

extension Character {
    var columns: Int { unicodeScalars.map(\.columns).max() ?? 0 }
}

extension String {
    var columns: Int { reduce(0) { $0 + $1.columns } }

    /// The text without characters that a terminal would interpret instead of showing them.
    var printable: String {
        String(String.UnicodeScalarView(unicodeScalars.map { $0.isPrintable ? $0 : "\u{FFFD}" }))
    }

    /// Shortens the text to at most `limit` columns by cutting out its middle.
    func shortened(to limit: Int) -> String {
        if columns <= limit { return self }
        guard limit > 1 else { return limit == 1 ? "…" : "" }
        let head = prefix(columns: (limit - 1) / 2)
        let tail = String(String(reversed()).prefix(columns: limit - 1 - head.columns).reversed())
        return head + "…" + tail
    }

    /// The text with spaces added, to be `width` columns wide at least.
    func padded(to width: Int, alignment: TextAlignment = .left) -> String {
        let space = String(repeating: " ", count: max(0, width - columns))
        return alignment == .left ? self + space : space + self
    }

    /// The text in lines of at most `limit` columns, broken at spaces.
    func wrapped(to limit: Int) -> [String] {
        var lines: [String] = []
        for word in split(separator: " ").map(String.init) {
            if let last = lines.last, last.columns + 1 + word.columns <= limit {
                lines[lines.count - 1] = "\(last) \(word)"
            } else {
                lines.append(word)
            }
        }
        return lines
    }

    /// The beginning that fits in `limit` columns.
    func prefix(columns limit: Int) -> String {
        var result = ""
        var used = 0
        for character in self {
            used += character.columns
            if used > limit { break }
            result.append(character)
        }
        return result
    }
}

enum TextAlignment {
    case left
    case right
}

extension Unicode.Scalar {
    fileprivate var isPrintable: Bool {
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: false
        // These change the direction of the text around them.
        case .format: !(0x202A...0x202E).contains(value) && !(0x2066...0x2069).contains(value)
        default: true
        }
    }
}
