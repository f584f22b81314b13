package import Foundation

package enum CacheStoring: Sendable, Hashable {
    case store(StoredResponse)
    case refuse(StorageRefusal)
}

/// The reason why a response is not stored.
package enum StorageRefusal: Sendable, Hashable {
    case method
    /// An interim response, a part, or a response without content of its own.
    case status
    case requestNoStore
    /// `must-understand`, and the status is an unknown one.
    case notUnderstood
    case responseNoStore
    case privateToOneUser
    case authorization
    case varyAny
    /// Neither its fields nor its status permit it.
    case notPermitted
    /// It could never be used: stale at once, without a validator.
    case useless
    case tooManyFields
    case tooManyVaryNames
    case urlTooLong
}

extension HTTPCachePolicy {
    /// Decides whether a response may be stored (RFC 9111, section 3), and which part of it.
    ///
    /// The caller makes sure that the content arrived completely and is of interest.
    package func storing(
        _ request: HTTPCacheRequest, status: Int, fields: HTTPFields, requested: Date,
        received: Date
    ) -> CacheStoring {
        if let refusal = refusal(request, status: status, fields: fields) {
            return .refuse(refusal)
        }
        let rules = rules(of: fields)
        let vary = VaryKey.names(in: fields)
        let stored = StoredResponse(
            url: request.url, status: status,
            fields: storable(fields, rules),
            vary: vary, variant: variant(of: request, naming: vary), requested: requested,
            received: received)
        if stored.condition == nil, freshness(of: stored, rules).lifetime <= 0,
            !mayEverBeUsedStale(rules),
            rememberedUntil(stored) == nil
        {
            return .refuse(.useless)
        }
        return .store(stored)
    }

    /// The first rule that a response breaks.
    func refusal(
        _ request: HTTPCacheRequest, status: Int, fields: HTTPFields
    ) -> StorageRefusal? {
        if request.method != "GET" { return .method }
        if !(200...999).contains(status) || [206, 304].contains(status) { return .status }
        if fields.isTooLargeToStore { return .tooManyFields }
        if request.url.absoluteString.utf8.count > Self.urlLimit { return .urlTooLong }
        if CacheControlDirectives(of: request.fields).noStore { return .requestNoStore }
        let rules = rules(of: fields)
        if rules.directives.mustUnderstand {
            if !Self.understood.contains(status) { return .notUnderstood }
        } else if rules.directives.noStore {
            return .responseNoStore
        }
        if rules.isForOneUserOnly { return .privateToOneUser }
        if isShared, request.fields.contains("Authorization"),
            !rules.allowsAuthorization
        {
            return .authorization
        }
        let vary = VaryKey.names(in: fields)
        if vary.contains("*") { return .varyAny }
        if vary.count > VaryKey.nameLimit { return .tooManyVaryNames }
        return permitsStoring(status, fields, rules) ? nil : .notPermitted
    }

    /// An explicit lifetime, even an invalid one, a directive, or a status that is cacheable by
    /// default.
    private func permitsStoring(
        _ status: Int, _ fields: HTTPFields, _ rules: ResponseRules
    ) -> Bool {
        let directives = rules.directives
        return directives.maxAge != nil || rules.sharedMaxAge != nil || directives.isPublic
            || (!isShared && directives.hasPrivate)
            || (rules.usesExpires && fields.contains("Expires"))
            || Self.heuristicallyCacheable.contains(status)
    }

    private static let urlLimit = 32 << 10

    private static let understood: Set<Int> = [
        200, 203, 204, 300, 301, 302, 303, 307, 308, 404, 405, 410, 414, 501,
    ]
}

extension HTTPFields {
    /// The largest number of stored lines and bytes; responses with more are not stored.
    static let storedLineLimit = 200
    static let storedByteLimit = 64 << 10

    var isTooLargeToStore: Bool {
        lines.count > Self.storedLineLimit || byteCount > Self.storedByteLimit
    }

    /// Without the fields of the connection and those that `Connection` names (RFC 9110, section
    /// 7.6.1), except `kept` ones, in lower case.
    package func withoutConnection(keeping kept: Set<String>) -> HTTPFields {
        let nominated = Set(members("Connection").map(\.lowercasedASCII))
        var fields = self
        fields.remove(nominated.subtracting(kept).union(Self.ofConnection))
        return fields
    }

    /// Fields of a `304` that describe the stored content, and so cannot come from a response
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

    /// The fields that the rules themselves read, in lower case. They are always stored: without
    /// its `Vary` or `Cache-Control` a response would be used where its server forbids it.
    var readFields: Set<String> {
        Self.alwaysRead.union(caching.targetedFields.map(\.lowercasedASCII))
    }

    private static let alwaysRead: Set<String> = [
        "age", "cache-control", "date", "etag", "expires", "last-modified", "pragma", "vary",
    ]
}

package struct StoredResponse: Sendable, Hashable {
    /// The request's URL; never one that the response names.
    package var url: URL
    package var status: Int
    /// The storable fields, in the order received.
    package var fields: HTTPFields
    /// The request fields that its `Vary` names: in lower case, sorted. `["*"]` when no request
    /// can be matched.
    package var vary: [String]
    /// The hash of their values in the original request; empty without `vary`.
    package var variant: [UInt8]
    /// The time at which its request, or that of its last validation, was sent.
    package var requested: Date
    /// The time at which its header fields, or those of its last validation, arrived.
    package var received: Date
    /// Whether it must be validated before it is used (RFC 9111, section 4.4).
    package var isInvalidated: Bool

    package init(
        url: URL, status: Int, fields: HTTPFields, vary: [String] = [], variant: [UInt8] = [],
        requested: Date, received: Date, isInvalidated: Bool = false
    ) {
        self.url = url
        self.status = status
        self.fields = fields
        self.vary = vary
        self.variant = variant
        self.requested = requested
        self.received = received
        self.isInvalidated = isInvalidated
    }

    package var date: Date? { fields.date(receivedAt: received) }

    /// Its valid `Last-Modified`; `nil` when there are several.
    package var lastModified: Date? { fields.lastModified(receivedAt: received) }

    /// Whether it replaces `stored`: a response overtaken by a later one does not. Compares the
    /// `Date` fields, and where these do not decide, the times of the requests.
    package func isAtLeastAsNew(as stored: StoredResponse) -> Bool {
        if let date, let storedDate = stored.date, date != storedDate { return date > storedDate }
        return requested >= stored.requested
    }
}

extension HTTPFields {
    func date(receivedAt received: Date) -> Date? {
        first("Date").flatMap { HTTPDateParser.date($0, now: received) }
    }

    func lastModified(receivedAt received: Date) -> Date? {
        let lines = values("Last-Modified")
        return lines.count == 1 ? HTTPDateParser.date(lines[0], now: received) : nil
    }
}

/// The effect of a `304` to the cache's own condition on the stored response.
package enum Freshening: Sendable, Hashable {
    /// It is valid, with these fields and times.
    case keep(StoredResponse)
    /// It is valid for this request, but its new fields no longer permit storing it.
    case useOnce(StoredResponse, StorageRefusal)
    /// The `304` is about another representation: the request is sent again without condition.
    case mismatch
}

extension HTTPCachePolicy {
    /// Applies a `304` to the stored response (RFC 9111, sections 3.2 and 4.3.4).
    ///
    /// Its fields replace those of their names, except the ones that describe the stored content.
    /// `Date` and `Age` come from the `304` or are absent.
    package func freshen(
        _ stored: StoredResponse, with fields: HTTPFields, for request: HTTPCacheRequest,
        requested: Date, received: Date
    ) -> Freshening {
        guard confirms(fields, stored) else { return .mismatch }
        var merged = stored
        merged.fields = self.merged(stored.fields, with: fields)
        merged.vary = VaryKey.names(in: merged.fields)
        merged.variant = variant(of: request, naming: merged.vary)
        merged.requested = requested
        merged.received = received
        merged.isInvalidated = false
        if let refusal = refusal(request, status: stored.status, fields: merged.fields) {
            return .useOnce(merged, refusal)
        }
        return .keep(merged)
    }

    /// Whether the `304` may speak of the stored response.
    ///
    /// RFC 9111, section 4.3.4, forbids to update any response by a `304` with a strong validator that no
    /// stored one has. That rule chooses among several responses that a request has named. Here exactly one
    /// was named, by exactly one validator, and `If-None-Match` is compared weakly (RFC 9110, section
    /// 13.1.2): the answer means that this validator names what the server has. So a strong tag confirms a
    /// weak one of the same text, which is what servers send that make their tag weak when they compress
    /// (nginx), and a tag confirms a date where the stored response came without its tag. Only a validator
    /// that contradicts the one of the same kind says no.
    private func confirms(_ fields: HTTPFields, _ stored: StoredResponse) -> Bool {
        let storedTag = EntityTag(of: stored.fields).flatMap { $0.isUsable ? $0 : nil }
        if let storedTag, let tag = EntityTag(of: fields), tag.isUsable {
            return tag.weaklyEquals(storedTag)
        }
        if storedTag == nil, let modified = fields.first("Last-Modified"),
            let storedModified = stored.fields.first("Last-Modified")
        {
            return modified.utf8.elementsEqual(storedModified.utf8)
        }
        return true
    }

    private func merged(_ stored: HTTPFields, with fields: HTTPFields) -> HTTPFields {
        var new = fields.withoutConnection(keeping: readFields)
        new.remove(HTTPFields.ofContent)
        var merged = stored
        merged.remove(Set(new.lines.map(\.name.lowercasedASCII)).union(["age", "date"]))
        for line in new.lines { merged.append(line.name, line.value) }
        return storable(merged, rules(of: merged))
    }
}

extension HTTPCachePolicy {
    /// The URLs whose stored responses, of all variants, must be validated after this answer
    /// (RFC 9111, section 4.4).
    ///
    /// After a request that may have changed something these are its own URL and those that
    /// `Location` and `Content-Location` name, as far as they have the same origin.
    package func invalidations(
        after request: HTTPCacheRequest, status: Int, fields: HTTPFields
    ) -> [URL] {
        let isSafe = ["GET", "HEAD", "OPTIONS", "TRACE"].contains(request.method)
        guard !isSafe, (200...399).contains(status) else { return [] }
        var urls = [request.url.absoluteURL]
        for name in ["Location", "Content-Location"] {
            guard let text = fields.first(name), text.utf8.count <= 32 << 10,
                let url = HTTPURL.target(of: text, from: request.url),
                Origin(url) == Origin(request.url), !urls.contains(url)
            else { continue }
            urls.append(url)
        }
        return urls
    }
}
