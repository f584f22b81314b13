import HalcyonHTTP

/// How often a request has gone through image servers, told from one to the next in the field `Via` (RFC 9110,
/// section 7.6.3): a source may lead back to the server that asks for it.
enum ServerHops {
    private static let name = "halcyon"

    /// Those that the fields of a request tell of.
    static func count(in fields: HTTPFields) -> Int {
        fields.values("Via").flatMap { $0.split(separator: ",") }.count { member in
            let words = member.split(separator: " ")
            return words.count >= 2 && words[1].lowercased() == name
        }
    }

    /// What a server sends that is asked by a request with so many.
    static func field(after count: Int) -> String {
        Array(repeating: "1.1 \(name)", count: count + 1).joined(separator: ", ")
    }
}

extension ServerRequest {
    /// How often it has gone through an image server before this one.
    var hops: Int { ServerHops.count(in: fields) }
}
