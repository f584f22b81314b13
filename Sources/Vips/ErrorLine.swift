/// One message in libvips' error buffer: `domain: text`, with the lines that continue it.
struct ErrorLine: Equatable {
    /// The part before the first colon when it looks like a name, or empty.
    let domain: String
    var text: String

    /// The messages of a buffer's text. A line without a domain continues the message before it.
    static func lines(of buffer: String) -> [ErrorLine] {
        var lines: [ErrorLine] = []
        for piece in buffer.split(whereSeparator: \.isNewline) {
            let domain = domain(of: piece)
            if domain.isEmpty, !lines.isEmpty {
                lines[lines.count - 1].text += "\n" + piece
            } else {
                lines.append(ErrorLine(domain: domain, text: String(piece)))
            }
        }
        return lines
    }

    /// Left in the buffer by loaders that succeed: HEIF looks for boxes beyond the end of the file.
    var isHarmless: Bool {
        text.contains("bad seek to")
    }

    private static func domain(of piece: Substring) -> String {
        guard let colon = piece.firstIndex(of: ":") else { return "" }
        let domain = piece[..<colon]
        let isName = domain.allSatisfy { $0.isLetter || $0.isNumber || "_-. ".contains($0) }
        return isName && domain.count <= 48 ? String(domain) : ""
    }
}
