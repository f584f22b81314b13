public import Foundation

/// A response of a `SampleServer`.
public struct SampleAnswer: Sendable {
    /// The end of a response.
    public enum End: Sendable {
        /// The response is complete.
        case complete
        /// The connection is closed after this number of body bytes.
        case cutOff(after: Int)
        /// The connection is reset instead of any response.
        case reset
    }

    var status = 200
    var body: Data
    var contentType = "application/octet-stream"
    private var fields: [(name: String, value: String)] = []
    var pieces = 1
    var pause = Duration.zero
    var end = End.complete

    /// 200 with these bytes.
    public init(_ body: Data, end: End = .complete) {
        self.body = body
        self.end = end
    }

    /// 200 with these bytes in pieces of `bytes`, with a pause before each but the first.
    public init(_ body: Data, pieces bytes: Int, pause: Duration) {
        self.body = body
        pieces = max(1, (body.count + bytes - 1) / max(1, bytes))
        self.pause = pause
    }

    /// This response with one more header field. With an `ETag` or a `Last-Modified`, a matching
    /// conditional request is answered with 304.
    public func field(_ name: String, _ value: String) -> SampleAnswer {
        var answer = self
        answer.fields.append((name, value))
        return answer
    }

    /// A response of `status`, with the number as its body.
    public static func status(_ status: Int) -> SampleAnswer {
        var answer = SampleAnswer(Data("\(status)\n".utf8))
        answer.status = status
        return answer
    }

    /// 404 Not Found.
    public static let missing = status(404)

    /// 200 with an HTML page instead of a picture.
    public static var page: SampleAnswer {
        var answer = SampleAnswer(Data("<!DOCTYPE html><title>Page</title>".utf8))
        answer.contentType = "text/html; charset=utf-8"
        return answer
    }

    /// The header: 304 if the client's copy is current (`isKnown`), otherwise with `status`.
    func header(isKnown: Bool) -> String {
        let lines = fields.map { "\($0.name): \($0.value)\r\n" }.joined()
        if isKnown { return "HTTP/1.1 304 Not Modified\r\n\(lines)\r\n" }
        return "HTTP/1.1 \(status) \(status == 200 ? "OK" : "No")\r\n"
            + "Content-Type: \(contentType)\r\nContent-Length: \(body.count)\r\n\(lines)\r\n"
    }

    /// Whether the request with this header has a condition that matches this response.
    func isKnown(to header: String) -> Bool {
        let conditions = ["if-none-match": "ETag", "if-modified-since": "Last-Modified"]
        return header.split(separator: "\r\n").contains { line in
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2, let validator = conditions[parts[0].lowercased()] else {
                return false
            }
            let value = parts[1].trimmingCharacters(in: .whitespaces)
            return fields.contains { $0.name == validator && $0.value == value }
        }
    }
}
