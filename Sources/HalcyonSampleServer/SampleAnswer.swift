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
}
