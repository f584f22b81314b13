package import Foundation
package import FoundationNetworking
import Synchronization

/// Status and header fields of a response.
///
/// Creating Foundation's `HTTPURLResponse` takes as long as all other work on the header of a small
/// response, and most callers do not need it. So it is created on first use.
package final class AnswerHead: Sendable {
    package let status: Int
    private let url: URL
    package let version: String
    /// The header fields in the order received.
    package let fields: [(name: String, value: String)]
    /// Whether a body follows. None does after some statuses, and none to `HEAD`, whatever the
    /// fields say: they are those of the response to a `GET` (RFC 9112, section 6.3).
    package let hasBody: Bool
    private let made = Mutex<HTTPURLResponse?>(nil)

    /// `url` and `method` are those of the request.
    package init(
        url: URL, method: String = "GET", status: Int, version: String = "HTTP/1.1",
        fields: [(name: String, value: String)]
    ) {
        self.url = url
        hasBody = method != "HEAD" && !(100..<200).contains(status) && ![204, 304].contains(status)
        self.status = status
        self.version = version
        self.fields = fields
    }

    /// A response that was stored, or assembled from parts.
    package convenience init(
        url: URL, status: Int, version: String = "HTTP/1.1", fields: HTTPFields
    ) {
        self.init(
            url: url, status: status, version: version,
            fields: fields.lines.map { ($0.name, $0.value) })
    }

    /// Foundation's form of the response; always the same object.
    /// - Throws: `TransportError` when Foundation does not take the header.
    package var response: HTTPURLResponse {
        get throws {
            if let made = made.withLock({ $0 }) { return made }
            let headerFields = Dictionary(
                fields.map { ($0.name, $0.value) }, uniquingKeysWith: { "\($0), \($1)" })
            guard
                let response = HTTPURLResponse(
                    url: url, statusCode: status, httpVersion: version, headerFields: headerFields)
            else {
                throw TransportError.invalidResponse(
                    url: url.absoluteString, reason: "its header makes no sense")
            }
            return made.withLock { made in
                // Another thread may have been faster.
                if let made { return made }
                made = response
                return response
            }
        }
    }

    /// The value of a field, with several lines joined by commas; `name` in lower case.
    package func value(_ name: String) -> String? {
        var value: String?
        for field in fields where Self.isEqual(field.name, toLowercased: name) {
            value = value.map { "\($0), \(field.value)" } ?? field.value
        }
        return value
    }

    /// Content codings of the body.
    package var codings: ContentCodings {
        hasBody ? value("content-encoding").map(ContentCodings.init) ?? ContentCodings() : .init()
    }

    /// The length of the body as it is sent, if the header gives it without contradiction.
    package var contentLength: Int64? {
        guard hasBody else { return 0 }
        return contentLengths.count == 1 ? contentLengths.first.flatMap { Int64($0) } : nil
    }

    /// The distinct `Content-Length` values; more than one contradict each other
    /// (RFC 9112, section 6.3).
    package var contentLengths: Set<String> {
        guard hasBody, let value = value("content-length") else { return [] }
        guard value.utf8.contains(UInt8(ascii: ",")) else { return [value] }
        return Set(
            value.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) })
    }

    private static func isEqual(_ name: String, toLowercased other: String) -> Bool {
        name.utf8.count == other.utf8.count
            && zip(name.utf8, other.utf8).allSatisfy { byte, lower in
                byte == lower || (0x41...0x5A).contains(byte) && byte | 0x20 == lower
            }
    }
}

extension HTTPFields {
    /// The fields of a response.
    package init(_ head: AnswerHead) {
        self.init(head.fields.map { Line(name: $0.name, value: $0.value) })
    }

    /// The fields of a response whose body has been decoded.
    package init(unpacked head: AnswerHead) {
        self.init(head)
        let codings = head.codings
        guard !codings.known.isEmpty else { return }
        remove(["content-encoding"])
        if !codings.unknown.isEmpty {
            append("Content-Encoding", codings.unknown.joined(separator: ", "))
        }
    }

    /// The fields of Foundation's form of a response, which merges fields of one name.
    package init(_ response: HTTPURLResponse) {
        self.init(response.allHeaderFields.map { Line(name: "\($0.key)", value: "\($0.value)") })
    }
}

/// Parses the header of a response from its lines.
struct HeaderReader {
    /// The limit in bytes of all headers of a response together, including interim headers and
    /// trailers.
    static let limit = 256 * 1024

    /// The request's method.
    let method: String
    private var count = 0
    private var status = 0
    private var version = ""
    private var fields: [(name: String, value: String)] = []
    /// Whether the header has ended; later lines are trailers.
    private(set) var isComplete = false

    init(method: String) {
        self.method = method
    }

    /// Whether nothing of the response has arrived.
    var isEmpty: Bool { count == 0 }

    /// - Returns: The header when this is its last line; interim responses (status 1xx) are
    ///   skipped.
    /// - Throws: `TransportError.invalidResponse`.
    mutating func take(_ line: UnsafeRawBufferPointer, of url: URL) throws -> AnswerHead? {
        count += line.count
        guard count <= Self.limit else {
            throw Self.invalid(url, "its header is longer than \(Self.limit) bytes")
        }
        guard !isComplete else { return nil }
        let text = Self.trimmed(line)
        if text.isEmpty {
            guard status > 0 else { throw Self.invalid(url, "its header has no status") }
            if (100..<200).contains(status) { return nil }
            isComplete = true
            let answer = AnswerHead(
                url: url, method: method, status: status, version: version, fields: fields)
            guard answer.contentLengths.count <= 1 else {
                throw Self.invalid(url, "its header says several lengths of the body")
            }
            return answer
        }
        if text.starts(with: "HTTP/".utf8) {
            try begin(String(decoding: text, as: UTF8.self), of: url)
        } else if let colon = text.firstIndex(of: UInt8(ascii: ":")) {
            let value = Self.trimmed(UnsafeRawBufferPointer(rebasing: text[(colon + 1)...]))
            let name = String(decoding: text[..<colon], as: UTF8.self)
            let isAddress = ["location", "content-location"].contains(name.lowercasedASCII)
            fields.append(
                (
                    name,
                    isAddress ? Self.address(value) : String(decoding: value, as: UTF8.self)
                ))
        }
        return nil
    }

    /// The text of an address. Bytes that are not UTF-8 are percent-encoded as they are, so that a
    /// path in another encoding reaches the resource that its server means.
    private static func address(_ bytes: Slice<UnsafeRawBufferPointer>) -> String {
        var text = ""
        var rest = bytes[...]
        while !rest.isEmpty {
            var iterator = rest.makeIterator()
            var parser = Unicode.UTF8.ForwardParser()
            let count: Int
            switch parser.parseScalar(from: &iterator) {
            case .valid(let scalar):
                count = scalar.count
                text += String(decoding: scalar, as: UTF8.self)
            case .error(let length):
                count = length
                for byte in rest.prefix(length) {
                    text += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
                }
            case .emptyInput: return text
            }
            rest = rest.dropFirst(count)
        }
        return text
    }

    /// The line without white space at both ends. Works on bytes: a header is read for each
    /// download, and Foundation takes longer for this than curl for all the rest of it.
    private static func trimmed(_ line: UnsafeRawBufferPointer) -> Slice<UnsafeRawBufferPointer> {
        line.trimming { $0 == 0x20 || (0x09...0x0D).contains($0) }
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
