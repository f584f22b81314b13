/// Decides whose message is whose: which lines of libvips' one, process-wide error buffer belong to
/// which of the operations that run at the same time.
///
/// The buffer is emptied whenever an operation begins or ends, so that a line was written by one of
/// those that are running at that moment, its candidates. Where the line's domain names the nickname,
/// the pipeline or the file format of some of them, the others are ruled out. An operation that fails
/// receives the lines that name it or can only be its own; if there are none, the warnings that were
/// given on its thread; and only as a last resort lines that a concurrent operation may have written.
struct ErrorLedger {
    struct Token: Hashable {
        fileprivate let number: Int
    }

    private struct Run {
        let lineage: Lineage
        let thread: UInt
        var warnings: [String] = []
    }

    private struct Entry {
        let text: String
        let isAttributed: Bool
        var candidates: Set<Int>
    }

    private var runs: [Int: Run] = [:]
    private var nextNumber = 0
    private var entries: [Entry] = []

    /// Lines that wait for their operation to end; more than these are dropped, oldest first.
    private static let entryLimit = 1_024
    private static let warningLimit = 8

    /// Registers an operation that begins on `thread`.
    ///
    /// - Parameter fresh: What the buffer holds by now.
    mutating func begin(_ lineage: Lineage, thread: UInt, fresh: String) -> Token {
        record(fresh)
        nextNumber += 1
        runs[nextNumber] = Run(lineage: lineage, thread: thread)
        return Token(number: nextNumber)
    }

    /// Notes a warning given on `thread`: some loaders explain themselves in no other way.
    mutating func warn(_ text: String, thread: UInt) {
        let own = runs.filter { $0.value.thread == thread }.keys.max()
        // A worker thread of libvips is nobody's own; its words are certain only when one runs.
        guard let number = own ?? (runs.count == 1 ? runs.keys.first : nil),
            runs[number]!.warnings.count < Self.warningLimit
        else { return }
        runs[number]!.warnings.append(text)
    }

    /// Ends an operation that succeeded; what only it can have written is forgotten.
    mutating func succeed(_ token: Token, fresh: String) {
        record(fresh)
        remove(token)
    }

    /// Ends an operation that failed and returns its message.
    mutating func fail(_ token: Token, fresh: String) -> String {
        record(fresh)
        let possible = entries.filter { $0.candidates.contains(token.number) }
        var texts = possible.filter(\.isAttributed).map(\.text)
        if texts.isEmpty { texts = runs[token.number]?.warnings ?? [] }
        if texts.isEmpty { texts = possible.map(\.text) }
        remove(token)
        var seen: Set<String> = []
        texts.removeAll { !seen.insert($0).inserted }
        return texts.isEmpty ? VipsError.unexplained : texts.joined(separator: "\n")
    }

    private mutating func record(_ fresh: String) {
        guard !fresh.isEmpty, !runs.isEmpty else { return }
        for line in ErrorLine.lines(of: fresh) where !line.isHarmless {
            let owners = runs.filter { $0.value.lineage.owns(domain: line.domain) }
            let candidates = owners.isEmpty ? runs : owners
            entries.append(
                Entry(
                    text: line.text, isAttributed: !owners.isEmpty || runs.count == 1,
                    candidates: Set(candidates.keys)))
        }
        entries.removeFirst(max(0, entries.count - Self.entryLimit))
    }

    private mutating func remove(_ token: Token) {
        runs[token.number] = nil
        guard !entries.isEmpty else { return }
        for index in entries.indices { entries[index].candidates.remove(token.number) }
        entries.removeAll { $0.candidates.isEmpty }
    }
}

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

/// The operations that a not yet evaluated image is made of, so that an error during its evaluation can
/// be told from the errors of other images.
struct Lineage: Sendable, Equatable {
    private(set) var operations: [String] = []

    init(_ operations: [String] = []) {
        for operation in operations { insert(operation) }
    }

    mutating func insert(_ operation: String) {
        if !operations.contains(operation) { operations.append(operation) }
    }

    mutating func formUnion(_ other: Lineage) {
        for operation in other.operations { insert(operation) }
    }

    /// Whether a message with this domain comes from one of the operations, or from reading or writing
    /// their file format.
    func owns(domain: String) -> Bool {
        if operations.contains(domain) { return true }
        guard let format = Self.format(in: domain) else { return false }
        let isReading = Self.isReading(domain)
        return operations.contains { operation in
            guard Self.format(in: operation) == format else { return false }
            guard let isReading, let own = Self.isReading(operation) else { return true }
            return isReading == own
        }
    }

    /// Whether a domain (`webp2vips`, `vips2png`) or a nickname (`pngsave_buffer`) reads files, or writes them; `nil`
    /// for what does neither.
    private static func isReading(_ name: String) -> Bool? {
        if name.contains("load") || name.contains("2vips") { return true }
        return name.contains("save") || name.contains("vips2") ? false : nil
    }

    /// The file format that a message domain (`VipsJpeg`, `webp2vips`) or a nickname speaks of.
    static func format(in name: String) -> String? {
        let lowercased = name.lowercased()
        return formats.first { lowercased.contains($0) }
    }

    private static let formats = [
        "jpeg", "png", "webp", "gif", "heif", "tiff", "jxl", "svg", "pdf", "icc",
    ]
}
