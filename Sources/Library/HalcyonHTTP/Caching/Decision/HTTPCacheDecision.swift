/// What is to be done for a request.
package enum HTTPCacheDecision: Sendable, Hashable {
    /// The stored response is used; nothing is sent.
    case use
    /// The stored response is used although it is stale; with `revalidate` the server is asked
    /// afterwards.
    case useStale(revalidate: Bool)
    /// The server is asked whether the stored response is still good.
    case validate(ValidationCondition, because: CacheMissReason)
    /// The server is asked for the whole.
    case fetch(because: CacheMissReason)
    /// Nothing may be sent, and nothing stored may be used.
    case unsatisfiable(because: CacheMissReason)
}

/// Why a stored response is not simply used.
package enum CacheMissReason: Sendable, Hashable {
    /// The method is not `GET`.
    case method
    case requestNoStore
    /// The program made the request conditional or asked for a range.
    case ownConditions
    case nothingStored
    /// What is stored was made for other request fields.
    case varyMismatch
    case requestNoCache
    case responseNoCache
    /// The program wants the server to be asked.
    case validationAlways
    case invalidated
    /// The clock is behind the time of receipt.
    case clockSetBack
    case requestMaxAge
    case requestMinFresh
    case stale
}

/// What a server compares with what it has (RFC 9110, section 13.1).
package enum ValidationCondition: Sendable, Hashable {
    case entityTag(EntityTag)
    /// The text of `Last-Modified` as it was received.
    case lastModified(String)

    /// The field that says so.
    package var line: HTTPFields.Line {
        switch self {
        case .entityTag(let tag): .init(name: "If-None-Match", value: tag.text)
        case .lastModified(let date): .init(name: "If-Modified-Since", value: date)
        }
    }
}

extension StoredResponse {
    /// How the server can be asked about it: by its `ETag`, whatever its syntax, else by its
    /// valid `Last-Modified` (RFC 9111, section 4.3.1).
    package var condition: ValidationCondition? {
        if let tag = EntityTag(of: fields), tag.isUsable { return .entityTag(tag) }
        if lastModified != nil, let text = fields.first("Last-Modified") {
            return .lastModified(text)
        }
        return nil
    }

    /// What is sent to learn whether it is still good: its condition, or without one a request for
    /// the whole. Also what follows in the background after ``HTTPCacheDecision/useStale(revalidate:)``.
    package func revalidation(because reason: CacheMissReason) -> HTTPCacheDecision {
        condition.map { .validate($0, because: reason) } ?? .fetch(because: reason)
    }
}

extension HTTPCachePolicy {
    /// The fields to be sent after a decision: the request's own, with the condition if there is
    /// one. Under `.always` also `Cache-Control: max-age=0`, so that caches on the way ask too;
    /// a `Cache-Control` of the program's own stays as it is.
    ///
    /// A condition belongs to one hop and is not carried along a redirect.
    package func fields(
        toSend request: HTTPCacheRequest, after decision: HTTPCacheDecision
    ) -> HTTPFields {
        var fields = request.fields
        if request.method == "GET", caching.validation == .always,
            !fields.contains("Cache-Control")
        {
            fields.append("Cache-Control", "max-age=0")
        }
        if case .validate(let condition, _) = decision {
            fields.append(condition.line.name, condition.line.value)
        }
        return fields
    }
}
