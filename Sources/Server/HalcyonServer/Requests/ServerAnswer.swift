import Foundation
import HalcyonHTTP
import NIOCore

/// An answer before it is written to a connection.
struct ServerAnswer: Sendable {
    var status: Int
    var fields: HTTPFields = [:]
    /// `nil` for an answer that has no body, as 204 and 304; it then has no length either.
    var body: ByteBuffer?
    var notes = AnswerNotes()

    static let methods = "GET, HEAD, OPTIONS"

    /// The status for the log, metrics and traces: 499 if the client has disconnected.
    var notedStatus: Int { notes.failure?.kind == .clientGone ? 499 : status }

    /// Returns a text response that must not be stored.
    static func text(
        _ status: Int, _ text: String, type: String = "text/plain; charset=utf-8"
    ) -> ServerAnswer {
        ServerAnswer(
            status: status, fields: ["Content-Type": type, "Cache-Control": "no-store"],
            body: ByteBuffer(string: text))
    }

    /// Returns a response of JSON that must not be stored.
    static func json(_ value: some Encodable, status: Int = 200) throws(Failure) -> ServerAnswer {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            let text = String(decoding: try encoder.encode(value), as: UTF8.self)
            return .text(status, text + "\n", type: "application/json")
        } catch {
            throw Failure(.internalError, "The answer could not be written", cause: "\(error)")
        }
    }
}

/// Facts about a response that are not sent with it, for the log, metrics and traces.
struct AnswerNotes: Sendable {
    var route = "other"
    /// Whether it came from a cache: `hit`, `stale`, `miss`, `not_modified` or `none`.
    var cache = "none"
    var tier: String?
    var failure: Failure?
    var source: String?
    /// Formats of source and picture, and the sizes of the picture.
    var input: String?
    var output: String?
    var width: Int?
    var height: Int?
    var frames: Int?
    var sourceBytes: Int?
    var stages: [(name: String, duration: Duration)] = []
    /// Whether it is not worth a line in the log: health and metrics.
    var isQuiet = false
}
