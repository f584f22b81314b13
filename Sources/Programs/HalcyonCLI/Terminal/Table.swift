/// Rows of text under headings, in columns as wide as their longest text.
struct Table {
    /// A column: its heading and the side its texts stand at.
    struct Column {
        var title: String
        var alignment = TextAlignment.left
    }

    let columns: [Column]
    private(set) var rows: [[String]] = []

    init(_ columns: Column...) {
        self.columns = columns
    }

    mutating func add(_ row: [String]) {
        rows.append(columns.indices.map { $0 < row.count ? row[$0].printable : "" })
    }

    /// The heading, a rule and the rows, without spaces at their ends.
    var lines: [String] {
        let widths = columns.indices.map { index in
            (rows.map { $0[index].columns } + [columns[index].title.columns]).max() ?? 0
        }
        let rule = widths.map { String(repeating: "─", count: $0) }
        return [line(columns.map(\.title), widths), rule.joined(separator: "  ")]
            + rows.map { line($0, widths) }
    }

    private func line(_ texts: [String], _ widths: [Int]) -> String {
        var text = columns.indices
            .map { texts[$0].padded(to: widths[$0], alignment: columns[$0].alignment) }
            .joined(separator: "  ")
        while text.last == " " { text.removeLast() }
        return text
    }
}

/// Colours of a terminal, or none.
struct TextStyle: Equatable, Sendable {
    enum Tone: String, Sendable {
        case bold = "1"
        case faint = "2"
        case red = "31"
        case green = "32"
        case cyan = "36"
    }

    let isColoured: Bool

    static let plain = TextStyle(isColoured: false)

    func callAsFunction(_ tone: Tone, _ text: String) -> String {
        isColoured && !text.isEmpty ? "\u{1B}[\(tone.rawValue)m\(text)\u{1B}[0m" : text
    }
}

extension TextStyle {
    /// Colours for a terminal, unless `NO_COLOR` is set to anything or the terminal is a dumb one.
    init(isTerminal: Bool, environment: [String: String]) {
        self.init(
            isColoured: isTerminal && (environment["NO_COLOR"] ?? "").isEmpty
                && environment["TERM"] != "dumb")
    }
}
