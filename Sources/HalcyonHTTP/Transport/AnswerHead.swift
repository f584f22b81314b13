package import Foundation
package import FoundationNetworking
import Synchronization

/// Status and header fields of an answer.
///
/// To make Foundation's `HTTPURLResponse` takes as long as everything else that is done with the header
/// of a small answer, and mostly nobody looks at it. So it is made when somebody does.
package final class AnswerHead: Sendable {
    package let status: Int
    private let url: URL
    package let version: String
    /// In the order they came.
    package let fields: [(name: String, value: String)]
    private let made = Mutex<HTTPURLResponse?>(nil)

    /// `url` is that of the request.
    package init(
        url: URL, status: Int, version: String = "HTTP/1.1",
        fields: [(name: String, value: String)]
    ) {
        self.url = url
        self.status = status
        self.version = version
        self.fields = fields
    }

    /// The same for Foundation's users; always the same object.
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

    /// The value of a field, of several of the name joined with commas; `name` in lower case.
    package func value(_ name: String) -> String? {
        var value: String?
        for field in fields where Self.isEqual(field.name, toLowercased: name) {
            value = value.map { "\($0), \(field.value)" } ?? field.value
        }
        return value
    }

    /// The content encoding, unless it is `identity`.
    package var contentEncoding: String? {
        guard
            let value = value("content-encoding")?.trimmingCharacters(in: .whitespaces)
                .lowercased(),
            !value.isEmpty, value != "identity"
        else { return nil }
        return value
    }

    /// The length of the body that the header says, once or several times the same.
    package var contentLength: Int64? {
        contentLengths.count == 1 ? contentLengths.first.flatMap { Int64($0) } : nil
    }

    /// The lengths of the body that the header says; more than one contradict each other
    /// (RFC 9112, section 6.3).
    package var contentLengths: Set<String> {
        guard let value = value("content-length") else { return [] }
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
