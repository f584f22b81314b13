import Foundation

/// Makes the header of an answer from its lines.
struct HeaderReader {
    /// Bytes of all headers of an answer together, also of those that come before it and after its body.
    static let limit = 256 * 1024

    private var count = 0
    private var status = 0
    private var version = ""
    private var fields: [(name: String, value: String)] = []
    /// Whether the header has ended; what comes then is behind the body.
    private var isComplete = false

    /// Whether nothing of the answer has arrived.
    var isEmpty: Bool { count == 0 }

    /// - Returns: The header when this is its last line; interim answers (status 1xx) are skipped.
    /// - Throws: `TransportError.invalidResponse`.
    mutating func take(_ line: UnsafeRawBufferPointer, of url: URL) throws -> AnswerHead? {
        count += line.count
        guard count <= Self.limit else {
            throw Self.invalid(url, "its header is longer than \(Self.limit) bytes")
        }
        guard !isComplete else { return nil }
        let text = String(decoding: line, as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        if text.isEmpty {
            guard status > 0 else { throw Self.invalid(url, "its header has no status") }
            if (100..<200).contains(status) { return nil }
            isComplete = true
            let answer = AnswerHead(url: url, status: status, version: version, fields: fields)
            guard answer.contentLengths.count <= 1 else {
                throw Self.invalid(url, "its header says several lengths of the body")
            }
            return answer
        }
        if text.hasPrefix("HTTP/") {
            try begin(text, of: url)
        } else if let colon = text.firstIndex(of: ":") {
            let value = text[text.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            fields.append((String(text[..<colon]), value))
        }
        return nil
    }

    private mutating func begin(_ line: String, of url: URL) throws {
        let parts = line.split(separator: " ", maxSplits: 2)
        guard parts.count >= 2, let status = Int(parts[1]), (100...999).contains(status) else {
            throw Self.invalid(url, "there is no such status: \(line.prefix(60).debugDescription)")
        }
        self.status = status
        version = String(parts[0])
        fields = []
    }

    private static func invalid(_ url: URL, _ reason: String) -> TransportError {
        .invalidResponse(url: url.absoluteString, reason: reason)
    }
}
