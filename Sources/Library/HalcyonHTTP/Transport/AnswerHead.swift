package import Foundation
package import FoundationNetworking
import HalcyonWork
import Synchronization

/// Status and header fields of a response.
///
/// Creating Foundation's `HTTPURLResponse` takes as long as all other work on the header of a small
/// response, and most callers do not need it. So it is created on first use.
package final class AnswerHead: Sendable {
    package let status: Int
    private let url: URL
    package let version: String
    package let fields: HTTPFields
    /// Whether a body follows. None does after some statuses, and none to `HEAD`, whatever the
    /// fields say: they are those of the response to a `GET` (RFC 9112, section 6.3).
    package let hasBody: Bool
    /// The length of the body as it is sent, if the header gives it without contradiction.
    package let contentLength: Int64?
    /// Whether values of `Content-Length` contradict each other (RFC 9112, section 6.3).
    let hasSeveralLengths: Bool
    private let made = Mutex<HTTPURLResponse?>(nil)

    /// `url` and `method` are those of the request.
    package init(
        url: URL, method: String = "GET", status: Int, version: String = "HTTP/1.1",
        fields: HTTPFields
    ) {
        self.url = url
        hasBody = method != "HEAD" && !(100..<200).contains(status) && ![204, 304].contains(status)
        self.status = status
        self.version = version
        self.fields = fields
        let lengths = hasBody ? Set(fields.members("Content-Length")) : ["0"]
        hasSeveralLengths = lengths.count > 1
        contentLength = hasSeveralLengths ? nil : lengths.first.flatMap { Int64($0) }
    }

    /// Foundation's form of the response; always the same object.
    /// - Throws: `TransportError` when Foundation does not take the header.
    package var response: HTTPURLResponse {
        get throws {
            try made.withLock { made in
                if let made { return made }
                let headerFields = Dictionary(
                    fields.lines.map { ($0.name, $0.value) }, uniquingKeysWith: { "\($0), \($1)" })
                made = HTTPURLResponse(
                    url: url, statusCode: status, httpVersion: version, headerFields: headerFields)
                if let made { return made }
                throw TransportError.invalidResponse(
                    url: url.absoluteString, reason: "its header makes no sense")
            }
        }
    }

    /// The value of a field, with several lines joined by commas.
    package func value(_ name: String) -> String? {
        let values = fields.values(name)
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }

    package var codings: ContentCodings {
        ContentCodings(hasBody ? fields.members("Content-Encoding") : [])
    }
}

extension HTTPFields {
    /// The fields of a response whose body has been decoded.
    package init(unpacked head: AnswerHead) {
        self = head.fields
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

struct HeaderReader {
    /// The limit in bytes of all headers of a response together, including interim headers and
    /// trailers.
    static let limit = 256 * 1024

    let method: String
    private var count = 0
    private var status = 0
    private var version = ""
    private var fields = HTTPFields()
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
            guard !answer.hasSeveralLengths else {
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
                name, isAddress ? Self.address(value) : String(decoding: value, as: UTF8.self))
        }
        return nil
    }

    /// The text of an address. If it is not UTF-8, its bytes beyond ASCII are percent-encoded, so
    /// that a path in another encoding reaches the resource that its server means.
    private static func address(_ bytes: Slice<UnsafeRawBufferPointer>) -> String {
        String(validating: bytes, as: UTF8.self)
            ?? bytes.map { byte in
                byte < 0x80
                    ? String(UnicodeScalar(byte)) : PercentEncoding.encode(CollectionOfOne(byte))
            }.joined()
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
        fields = HTTPFields()
    }

    private static func invalid(_ url: URL, _ reason: String) -> TransportError {
        .invalidResponse(url: url.absoluteString, reason: reason)
    }
}
