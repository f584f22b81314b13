package import Foundation

/// What a `304` to the cache's own condition means for the stored response.
package enum Freshening: Sendable, Hashable {
    /// It is good, with these fields and times.
    case keep(StoredResponse)
    /// It is good for this request. By what its fields say now it may not stay in the cache.
    case useOnce(StoredResponse, StorageRefusal)
    /// The `304` speaks of another representation: the request is sent again without condition.
    case mismatch
}

extension HTTPCachePolicy {
    /// Takes a `304` to the request into the stored response (RFC 9111, sections 3.2 and 4.3.4).
    ///
    /// Its fields replace those of their names, except the ones that describe the stored content.
    /// `Date` and `Age` are those of the `304` or none.
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

    /// The fields of a stored response as they are handed out now: with its present `Age`
    /// (RFC 9111, section 5.1), and otherwise as they are.
    package func fields(of stored: StoredResponse, now: Date) -> HTTPFields {
        let age = min(freshness(of: stored).age(at: now), DeltaSeconds.maximum)
        var fields = stored.fields
        fields.set("Age", to: String(age.isFinite ? Int(age) : 0))
        return fields
    }
}
