import Foundation

/// What a response says about its own caching, as it counts in the policy's role.
package struct ResponseRules: Sendable {
    package let directives: CacheControlDirectives
    let usesExpires: Bool
    let isShared: Bool
    /// Whether the operator vouches for the response, whatever it says.
    var isDeclaredPublic = false

    /// Whether it may not be kept for other users, and this cache is theirs too.
    var isForOneUserOnly: Bool { isShared && directives.isPrivate }

    /// Seconds of `s-maxage`, which a private cache does not know.
    var sharedMaxAge: TimeInterval? { isShared ? directives.sharedMaxAge : nil }

    /// Whether a shared cache may keep the answer to a request with `Authorization`
    /// (RFC 9111, section 3.5).
    var allowsAuthorization: Bool {
        isDeclaredPublic || directives.isPublic || directives.mustRevalidate || sharedMaxAge != nil
    }

    /// The fields that are not kept (RFC 9111, sections 5.2.2.4 and 5.2.2.7).
    var unstoredFields: Set<String> {
        directives.noCacheFields.union(isShared ? directives.privateFields : [])
    }

    /// Whether the response may not be used stale (RFC 9111, section 4.2.4).
    ///
    /// `s-maxage` forbids it like `proxy-revalidate`, unless a `stale-…` directive of the same
    /// response permits it: who writes both means both, and extensions may loosen rules.
    func forbidsStale(permittedByResponse: Bool) -> Bool {
        if directives.mustRevalidate || directives.noCache { return true }
        guard isShared else { return false }
        return directives.proxyRevalidate || (sharedMaxAge != nil && !permittedByResponse)
    }
}

extension HTTPCachePolicy {
    /// The rules in a response's fields: in the shared role those of the first targeted field that
    /// is present and makes sense (RFC 9213, section 2.2), else those of `Cache-Control` and
    /// `Expires`. None at all with a fixed lifetime.
    package func rules(of fields: HTTPFields) -> ResponseRules {
        if caching.fixedLifetime != nil {
            return ResponseRules(
                directives: .init(), usesExpires: false, isShared: isShared,
                isDeclaredPublic: true)
        }
        if isShared {
            for name in caching.targetedFields {
                if let directives = CacheControlDirectives(targeted: fields.values(name)) {
                    return ResponseRules(
                        directives: directives, usesExpires: false, isShared: true)
                }
            }
        }
        return ResponseRules(
            directives: CacheControlDirectives(of: fields), usesExpires: true, isShared: isShared)
    }
}

extension CacheControlDirectives {
    /// The directives of a targeted field, a dictionary of Structured Fields; `nil` when it is
    /// empty or does not parse as a whole.
    package init?(targeted lines: [String]) {
        guard !lines.isEmpty,
            let dictionary = StructuredDictionary(lines.joined(separator: ",")),
            !dictionary.members.isEmpty
        else { return nil }
        self.init()
        for (name, value) in dictionary.members {
            switch value {
            case .boolean(true): note(name, .none)
            // It says that the directive is not there.
            case .boolean(false): break
            case .integer(let seconds): note(name, .text(String(seconds)))
            case .other: note(name, .invalid)
            }
        }
    }
}
