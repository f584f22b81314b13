public import Foundation

/// What a `SampleServer` answers.
public struct SampleAnswer: Sendable {
    /// How an answer ends.
    public enum End: Sendable {
        /// As it should.
        case complete
        /// The connection is closed after so many bytes of the body.
        case cutOff(after: Int)
        /// The connection is reset in place of any answer.
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

    /// This answer with one more header field. With an `ETag` or a `Last-Modified`, who asks whether just
    /// this is still good is answered 304.
    public func field(_ name: String, _ value: String) -> SampleAnswer {
        var answer = self
        answer.fields.append((name, value))
        return answer
    }

    /// A status with a line that names it.
    public static func status(_ status: Int) -> SampleAnswer {
        var answer = SampleAnswer(Data("\(status)\n".utf8))
        answer.status = status
        return answer
    }

    /// There is nothing at that address.
    public static let missing = status(404)

    /// 200 with a page in place of a picture.
    public static var page: SampleAnswer {
        var answer = SampleAnswer(Data("<!DOCTYPE html><title>Page</title>".utf8))
        answer.contentType = "text/html; charset=utf-8"
        return answer
    }

    /// The header for a client that has, or has not, what it would be sent.
    func header(isKnown: Bool) -> String {
        let lines = fields.map { "\($0.name): \($0.value)\r\n" }.joined()
        if isKnown { return "HTTP/1.1 304 Not Modified\r\n\(lines)\r\n" }
        return "HTTP/1.1 \(status) \(status == 200 ? "OK" : "No")\r\n"
            + "Content-Type: \(contentType)\r\nContent-Length: \(body.count)\r\n\(lines)\r\n"
    }

    /// Whether a request with this header names what would be sent as known.
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
