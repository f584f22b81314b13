import Foundation
import HalcyonHTTP

/// The metadata of a source as shared between servers: lines of text, like the fields of HTTP. JSON
/// took a tenth of the time of a hit.
struct SharedHead: Sendable {
    let stored: StoredResponse
    /// Bytes of the body.
    let length: Int

    init(_ stored: StoredResponse, length: Int) {
        self.stored = stored
        self.length = length
    }

    init?(_ text: Data) { self.init(Self.lines(of: text)[...]) }

    /// `nil` if it would not be the same when it is read again.
    var text: Data? { Self.text(of: lines) }

    fileprivate init?(_ lines: ArraySlice<String>) {
        guard lines.count >= 2, let url = URL(string: lines[lines.startIndex]) else { return nil }
        let numbers = lines[lines.startIndex + 1].split(separator: " ")
        guard numbers.count == 4, let status = Int(numbers[0]),
            let requested = TimeInterval(numbers[1]), let received = TimeInterval(numbers[2]),
            let length = Int(numbers[3])
        else { return nil }
        let fields = lines.dropFirst(2).compactMap { line -> HTTPFields.Line? in
            guard let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
            return HTTPFields.Line(
                name: String(line[..<colon]),
                value: String(line[line.utf8.index(after: colon)...]))
        }
        guard fields.count == lines.count - 2 else { return nil }
        self.init(
            StoredResponse(
                url: url, status: status, fields: HTTPFields(fields),
                requested: Date(timeIntervalSinceReferenceDate: requested),
                received: Date(timeIntervalSinceReferenceDate: received)), length: length)
    }

    fileprivate var lines: [String] {
        let times = [stored.requested, stored.received].map {
            "\($0.timeIntervalSinceReferenceDate)"
        }
        return [stored.url.absoluteString, "\(stored.status) \(times[0]) \(times[1]) \(length)"]
            + stored.fields.lines.map { "\($0.name):\($0.value)" }
    }

    /// By bytes: CR LF is one character.
    fileprivate static func lines(of text: Data) -> [String] {
        text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
    }

    fileprivate static func text(of lines: [String]) -> Data? {
        guard !lines.contains(where: { $0.utf8.contains(UInt8(ascii: "\n")) }) else { return nil }
        return Data(lines.joined(separator: "\n").utf8)
    }
}

/// The metadata of a finished picture: its key, which names its source's version, and the source's head.
struct SharedPictureHead: Sendable {
    struct Source: Sendable {
        let head: SharedHead
        /// The generation of its record; a purge since then makes it void.
        let generation: Int64
    }

    let key: String
    /// `nil` for a source without a server, or one that must be requested each time.
    let source: Source?
}

extension SharedPictureHead {
    init?(_ text: Data) {
        let lines = SharedHead.lines(of: text)
        let words = lines.first?.split(separator: " ") ?? []
        guard let key = words.first else { return nil }
        self.key = String(key)
        if words.count == 2, let generation = Int64(words[1]), let head = SharedHead(lines[1...]) {
            source = Source(head: head, generation: generation)
        } else {
            source = nil
        }
    }

    var text: Data {
        // The picture is good without the metadata of its source.
        source.flatMap { source in
            SharedHead.text(of: ["\(key) \(source.generation)"] + source.head.lines)
        } ?? Data(key.utf8)
    }
}
