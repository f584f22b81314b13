import Glibc

/// What is going on, on standard error: standard output is for results.
enum Progress {
    private static let isTerminal = isatty(STDERR_FILENO) == 1

    /// Shows a line that the next one replaces; only on a terminal.
    static func show(_ text: String) {
        if isTerminal { write("\r\u{1B}[K\(text)") }
    }

    static func clear() {
        if isTerminal { write("\r\u{1B}[K") }
    }

    /// Says a line that stays.
    static func say(_ text: String) {
        clear()
        write(text + "\n")
    }

    private static func write(_ text: String) {
        var text = text
        text.withUTF8 { bytes in
            // Nobody can be told that nobody can be told.
            _ = Glibc.write(STDERR_FILENO, bytes.baseAddress, bytes.count)
        }
    }
}
