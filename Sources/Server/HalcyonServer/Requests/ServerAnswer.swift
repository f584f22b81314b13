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
    /// The stages of the work with their durations, in order.
    var stages: [(name: String, duration: Duration)] = []
    /// Whether it is not worth a line in the log: health and metrics.
    var isQuiet = false
}
