extension HTTPFields {
    /// More lines or bytes than these are not stored.
    static let storedLineLimit = 200
    static let storedByteLimit = 64 << 10

    var isTooLargeToStore: Bool {
        lines.count > Self.storedLineLimit || byteCount > Self.storedByteLimit
    }

    /// The fields that may be stored (RFC 9111, section 3.1): without those of the connection,
    /// those that `Connection` names, and `unstored` ones, in lower case.
    ///
    /// Fields that the rules themselves read are kept, whoever names them: without its `Vary` or
    /// `Cache-Control` a response would be used where its server forbids it.
    func storable(without unstored: Set<String>) -> HTTPFields {
        let nominated = values("Connection").flatMap {
            $0.utf8.split(separator: .comma).map {
                String(decoding: $0, as: UTF8.self).trimmingFieldSpaces.lowercasedASCII
            }
        }
        let left = unstored.union(nominated).subtracting(Self.read).union(Self.ofConnection)
        var fields = self
        fields.remove(left)
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

    private static let read: Set<String> = [
        "age", "cache-control", "date", "etag", "expires", "last-modified", "pragma", "vary",
    ]
}
