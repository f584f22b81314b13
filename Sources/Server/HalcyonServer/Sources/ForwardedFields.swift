import HalcyonHTTP
import HalcyonServerURLs
import HalcyonWork

/// The properties of a request that are sent to the server of its source.
struct SourceAsker: Sendable {
    /// The number of image servers that the request has passed before this one.
    var hops = 0
    var forwarded = ForwardedFields()
}

/// The fields of a client's request that are forwarded to the servers of sources.
///
/// The response may depend on them. They are therefore part of a source's key: no client gets a
/// source that was fetched with another client's fields.
struct ForwardedFields: Sendable, Hashable {
    /// One line for each name, in alphabetical order of the names, which are in lower case.
    let lines: [HTTPFields.Line]

    init() { lines = [] }

    /// - Parameters:
    ///   - names: In any case; those that the request does not have are left out.
    ///   - id: The request ID, which is forwarded even if the client has not sent one.
    init(_ names: [String], of fields: HTTPFields, id: String) {
        lines = Set(names.map { $0.lowercased() }).sorted().compactMap { name in
            if name == Self.requestID { return .init(name: name, value: id) }
            let values = fields.values(name)
            guard !values.isEmpty else { return nil }
            // Cookies are the only list with another separator.
            return .init(
                name: name, value: values.joined(separator: name == "cookie" ? "; " : ", "))
        }
    }

    /// The part of the key for these fields; empty without any.
    var variant: String {
        let telling = lines.filter { Self.tellsSourcesApart($0.name) }
        guard !telling.isEmpty else { return "" }
        return Digest.sha256.hexadecimal(
            telling.map { "\($0.name):\($0.value)\n" }.joined())
    }

    /// Whether responses depend on the field: not on the request ID, which is another one each
    /// time.
    static func tellsSourcesApart(_ name: String) -> Bool { name.lowercased() != requestID }

    private static let requestID = "x-request-id"
}
