import HalcyonHTTP
import HalcyonWork

/// What the server of a source learns of the request that asks for it.
struct SourceAsker: Sendable {
    /// How often the request has gone through an image server before this one.
    var hops = 0
    var forwarded = ForwardedFields()
}

/// The fields of a client's request that are handed on to the servers of sources.
///
/// What these send may depend on them, so that they belong to the keys of sources: nobody gets what was
/// fetched with the fields of somebody else.
struct ForwardedFields: Sendable, Hashable {
    /// One for each name, in alphabetical order of the names, which are in small letters.
    let lines: [HTTPFields.Line]

    init() { lines = [] }

    /// - Parameters:
    ///   - names: In any spelling; those that the request does not have are left out.
    ///   - id: The name of the request, which is handed on also when the client has not given it one.
    init(_ names: [String], of fields: HTTPFields, id: String) {
        lines = Set(names.map { $0.lowercased() }).sorted().compactMap { name in
            if name == Self.requestID { return .init(name: name, value: id) }
            let values = fields.values(name)
            guard !values.isEmpty else { return nil }
            // Cookies are the one list with another separator.
            return .init(
                name: name, value: values.joined(separator: name == "cookie" ? "; " : ", "))
        }
    }

    /// What tells sources with these fields from those with others; empty without any.
    var variant: String {
        let telling = lines.filter { Self.tellsSourcesApart($0.name) }
        guard !telling.isEmpty else { return "" }
        return Digest.sha256.hexadecimal(
            telling.map { "\($0.name):\($0.value)\n" }.joined())
    }

    /// Whether answers depend on the field: not on the name of a request, which is another one each time.
    static func tellsSourcesApart(_ name: String) -> Bool { name.lowercased() != requestID }

    /// Why a field cannot be handed on; `nil` when it can.
    static func refusal(of name: String) -> String? {
        let letters = Set("!#$%&'*+-.^_`|~".utf8)
        let isName =
            !name.isEmpty
            && name.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
                default: letters.contains(byte)
                }
            }
        if !isName { return "is no name of a header field" }
        let name = name.lowercased()
        let isOwn = own.contains(name) || name.hasPrefix("if-") || name.hasPrefix("proxy-")
        return isOwn ? "belongs to the connection or to the server's own requests" : nil
    }

    private static let requestID = "x-request-id"

    /// Of the connection to the client, or what decides about the answers that the server expects.
    private static let own: Set = [
        "accept-encoding", "connection", "content-length", "content-type", "expect", "host",
        "http2-settings", "keep-alive", "range", "te", "trailer", "transfer-encoding", "upgrade",
        "via",
    ]
}
