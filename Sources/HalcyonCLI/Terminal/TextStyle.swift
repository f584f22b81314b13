/// Colours of a terminal, or none.
struct TextStyle: Equatable, Sendable {
    enum Tone: String, Sendable {
        case bold = "1"
        case faint = "2"
        case red = "31"
        case green = "32"
        case cyan = "36"
    }

    /// Whether escape sequences are written.
    let isColoured: Bool

    static let plain = TextStyle(isColoured: false)

    init(isColoured: Bool) {
        self.isColoured = isColoured
    }

    /// Colours for a terminal, unless `NO_COLOR` is set to anything or the terminal is a dumb one.
    init(isTerminal: Bool, environment: [String: String]) {
        isColoured =
            isTerminal && (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
    }

    func callAsFunction(_ tone: Tone, _ text: String) -> String {
        isColoured && !text.isEmpty ? "\u{1B}[\(tone.rawValue)m\(text)\u{1B}[0m" : text
    }
}
