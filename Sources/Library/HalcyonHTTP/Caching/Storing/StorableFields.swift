extension HTTPFields {
    /// More lines or bytes than these are not stored.
    static let storedLineLimit = 200
    static let storedByteLimit = 64 << 10

    var isTooLargeToStore: Bool {
        lines.count > Self.storedLineLimit || byteCount > Self.storedByteLimit
    }

    /// Without the fields of the connection and those that `Connection` names (RFC 9110, section
    /// 7.6.1), except `kept` ones, in lower case.
    package func withoutConnection(keeping kept: Set<String>) -> HTTPFields {
        let nominated = values("Connection").flatMap {
            $0.utf8.split(separator: .comma).map {
                String(decoding: $0, as: UTF8.self).trimmingFieldSpaces.lowercasedASCII
            }
        }
        var fields = self
        fields.remove(Set(nominated).subtracting(kept).union(Self.ofConnection))
        return fields
    }

    /// Fields of a `304` that speak of the content stored, and so cannot come from an answer
    /// without content (RFC 9111, section 3.2).
    static let ofContent: Set<String> = [
        "content-length", "content-encoding", "content-range", "content-type", "content-md5",
        "content-digest", "repr-digest", "digest", "etag",
    ]

    private static let ofConnection: Set<String> = [
        "connection", "keep-alive", "proxy-connection", "proxy-authenticate",
        "proxy-authentication-info", "proxy-authorization", "te", "trailer",
        "transfer-encoding", "upgrade",
    ]
}

extension HTTPCachePolicy {
    /// The fields that may be stored (RFC 9111, section 3.1).
    func storable(_ fields: HTTPFields, _ rules: ResponseRules) -> HTTPFields {
        var fields = fields.withoutConnection(keeping: readFields)
        fields.remove(rules.unstoredFields.subtracting(readFields))
        return fields
    }

    /// Fields that the rules themselves read, in lower case. They are kept, whoever names them:
    /// without its `Vary` or `Cache-Control` a response would be used where its server forbids it.
    var readFields: Set<String> {
        Self.alwaysRead.union(caching.targetedFields.map(\.lowercasedASCII))
    }

    private static let alwaysRead: Set<String> = [
        "age", "cache-control", "date", "etag", "expires", "last-modified", "pragma", "vary",
    ]
}
