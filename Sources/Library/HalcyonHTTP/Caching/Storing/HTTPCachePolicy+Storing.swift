package import Foundation

/// What comes of an answer.
package enum CacheStoring: Sendable, Hashable {
    case store(StoredResponse)
    case refuse(StorageRefusal)
}

/// Why an answer is not stored.
package enum StorageRefusal: Sendable, Hashable {
    case method
    /// An interim answer, a part, or an answer without content of its own.
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
    /// Whether an answer may be stored (RFC 9111, section 3), and what is stored of it.
    ///
    /// That the content arrived completely and is of interest is the caller's to see to.
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

    /// The first rule that an answer breaks.
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

    /// An explicit lifetime, even one that makes no sense, a directive, or a status of which
    /// answers are stored anyway.
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

    /// The final statuses whose rules of storing are known.
    private static let understood: Set<Int> = [
        200, 203, 204, 300, 301, 302, 303, 307, 308, 404, 405, 410, 414, 501,
    ]
}
