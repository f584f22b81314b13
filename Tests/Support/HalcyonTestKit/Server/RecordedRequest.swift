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

/// The header fields of a message, in order; names are compared without case.
public struct HeaderFields: Hashable, Sendable, ExpressibleByDictionaryLiteral {
    /// One line of a header.
    public struct Field: Hashable, Sendable {
        public var name: String
        public var value: String

        func isNamed(_ other: String) -> Bool { name.lowercased() == other.lowercased() }
    }

    public private(set) var fields: [Field] = []

    public init() {}

    public init(dictionaryLiteral elements: (String, String)...) {
        fields = elements.map { Field(name: $0, value: $1) }
    }

    /// The first value of a field; setting replaces all its lines, `nil` removes them.
    public subscript(name: String) -> String? {
        get { fields.first { $0.isNamed(name) }?.value }
        set {
            fields.removeAll { $0.isNamed(name) }
            if let newValue { add(name, newValue) }
        }
    }

    /// All values of a field, in order.
    public func values(_ name: String) -> [String] {
        fields.filter { $0.isNamed(name) }.map(\.value)
    }

    /// Appends a line, also when there is one of that name.
    public mutating func add(_ name: String, _ value: String) {
        fields.append(Field(name: name, value: value))
    }
}
