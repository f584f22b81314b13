import HalcyonHTTP

/// The number of image servers that a request has passed, kept in the field `Via` (RFC 9110,
/// section 7.6.3): a source may lead back to the server that requests it.
enum ServerHops {
    private static let name = "halcyon"

    static func count(in fields: HTTPFields) -> Int {
        fields.values("Via").flatMap { $0.split(separator: ",") }.count { member in
            let words = member.split(separator: " ")
            return words.count >= 2 && words[1].lowercased() == name
        }
    }

    /// Returns the field for a request to a source, caused by a request with `count` hops.
    static func field(after count: Int) -> String {
        Array(repeating: "1.1 \(name)", count: count + 1).joined(separator: ", ")
    }
}

extension ServerRequest {
    /// The number of image servers that the request has passed before this one.
    var hops: Int { ServerHops.count(in: fields) }
}
