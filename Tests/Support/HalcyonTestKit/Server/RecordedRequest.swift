public import Foundation

/// A request as the server received it, whole.
public struct RecordedRequest: Hashable, Sendable {
    /// `GET`, `HEAD` and so on.
    public var method: String
    /// Path and query exactly as sent.
    public var target: String
    /// The path without the query, percent-decoded.
    public var path: String
    /// The query exactly as sent, without the question mark; `nil` when there is none.
    public var query: String?
    public var headers: HeaderFields
    public var body: Data
    /// `1.0`, `1.1` or `2`.
    public var httpVersion: String

    public init(
        method: String = "GET", target: String, headers: HeaderFields = [:], body: Data = Data(),
        httpVersion: String = "1.1"
    ) {
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        self.method = method
        self.target = target
        // As it is when it is malformed.
        path = parts[0].removingPercentEncoding ?? String(parts[0])
        query = parts.count > 1 ? String(parts[1]) : nil
        self.headers = headers
        self.body = body
        self.httpVersion = httpVersion
    }
}
