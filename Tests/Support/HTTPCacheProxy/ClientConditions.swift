import Foundation
import HalcyonHTTP

/// The conditions of a client's `GET`, for servers and proxies that answer from a cache (RFC 9111,
/// section 4.3.2).
struct ClientConditions: Sendable {
    private let tags: [String]
    private let modifiedSince: String?

    /// `nil` when the request is not made conditional by `If-None-Match` or `If-Modified-Since`.
    init?(of fields: HTTPFields) {
        tags = fields.values("If-None-Match")
        let dates = fields.values("If-Modified-Since")
        modifiedSince = dates.count == 1 ? dates[0] : nil
        if tags.isEmpty, modifiedSince == nil { return nil }
    }

    /// Whether the client has the stored response, so that it gets a 304.
    ///
    /// `If-None-Match` takes precedence (RFC 9110, section 13.2.2). A response without
    /// `Last-Modified` is dated by its `Date`.
    func areMet(by stored: StoredResponse) -> Bool {
        guard stored.status == 200 else { return false }
        if !tags.isEmpty {
            guard let tag = EntityTag(of: stored.fields) else { return false }
            return Self.members(of: tags).contains { $0 == "*" || EntityTag($0).weaklyEquals(tag) }
        }
        guard
            let date = modifiedSince.flatMap({
                HTTPDateParser.date($0, now: stored.received)
            })
        else { return false }
        return stored.lastModified ?? stored.date ?? stored.received <= date
    }

    /// Splits the lines into tags. Commas between quotes do not separate.
    private static func members(of lines: [String]) -> [String] {
        let spaces = CharacterSet(charactersIn: " \t")
        var members: [String] = []
        for line in lines {
            var isQuoted = false
            let pieces = line.utf8.split { byte in
                if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
                return byte == UInt8(ascii: ",") && !isQuoted
            }
            members += pieces.map {
                String(decoding: $0, as: UTF8.self).trimmingCharacters(in: spaces)
            }
        }
        return members
    }

    /// Returns the fields of the 304: those of the response except for the ones that describe its
    /// content.
    static func fieldsOfNotModified(_ fields: HTTPFields) -> HTTPFields {
        var fields = fields
        fields.remove(["content-length", "content-encoding", "content-range"])
        return fields
    }
}
