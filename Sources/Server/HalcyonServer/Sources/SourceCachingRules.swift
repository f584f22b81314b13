import Foundation
import HalcyonHTTP
import HalcyonServerURLs
import HalcyonWork

/// The lifetimes of responses from sources' servers: by the settings, or by the servers' own
/// caching rules where these count.
struct SourceCachingRules: Sendable {
    private let policy: HTTPCachePolicy
    private let passesCacheControl: Bool
    /// Request fields, in lower case, on which no stored response depends: they are always the
    /// same, or part of its key.
    private let settledFields: Set<String>

    init(_ configuration: ImageServerConfiguration) {
        passesCacheControl = configuration.http.passesCacheControl
        let forwarded = configuration.sources.http.forwardHeaders
            .filter(ForwardedFields.tellsSourcesApart)
        // Requests never ask for an encoding.
        settledFields = Set(forwarded.map { $0.lowercased() } + ["accept-encoding"])
        var caching = HTTPCaching.shared
        caching.negative = .off
        caching.staleWhileRevalidate = .upTo(configuration.cache.staleWhileRevalidate.inSeconds)
        caching.staleIfError = .upTo(configuration.cache.staleIfError.inSeconds)
        caching.staleWhenUnreachable = false
        if !passesCacheControl {
            caching.fixedLifetime = configuration.sources.freshness.inSeconds
        }
        policy = HTTPCachePolicy(caching)
    }

    func decision(on stored: StoredResponse, for url: URL, at now: Date) -> HTTPCacheDecision {
        policy.decide(HTTPCacheRequest(url: url), with: .response(stored, index: 0), now: now)
    }

    func freshUntil(_ stored: StoredResponse) -> Date { policy.freshness(of: stored).freshUntil }

    /// Returns the number of whole seconds that a response stays fresh. 0 for a response from the
    /// future: then the clock has been set back.
    func secondsLeft(_ stored: StoredResponse, at now: Date) -> Int {
        guard now >= stored.received else { return 0 }
        let left = freshUntil(stored).timeIntervalSince(now)
        return Int(min(max(left.rounded(.down), -1e9), 1e9))
    }

    /// Whether a stale response may be used after a failure to ask its server.
    func usesStale(_ stored: StoredResponse, after failure: Failure, at now: Date) -> Bool {
        guard let kind = failure.kind.asCacheFailure else { return false }
        return policy.usesStale(
            stored, for: HTTPCacheRequest(url: stored.url), after: kind, now: now)
    }

    /// Returns the stored response, updated by its server's confirmation, and whether it may stay
    /// stored; `nil` when the confirmation is about another picture.
    func freshened(
        _ stored: StoredResponse, by answer: OriginClient.Answer, for url: URL
    ) -> (response: StoredResponse, isStorable: Bool)? {
        let freshening = policy.freshen(
            stored, with: cleaned(answer.fields), for: HTTPCacheRequest(url: url),
            requested: answer.requested, received: answer.received)
        return switch freshening {
        case .keep(let stored): (stored, stored.vary.isEmpty)
        case .useOnce(let stored, _): (stored, false)
        case .mismatch: nil
        }
    }

    func stored(
        _ answer: OriginClient.Answer, of url: URL
    ) -> (response: StoredResponse, isStorable: Bool) {
        var fields = cleaned(answer.fields)
        if EntityTag(of: fields)?.isUsable != true, !fields.contains("Last-Modified") {
            fields.append(RemoteSource.digestField, Digest.sha256.hexadecimal(answer.body))
        }
        let storing = policy.storing(
            HTTPCacheRequest(url: url), status: 200, fields: fields, requested: answer.requested,
            received: answer.received)
        if case .store(let stored) = storing, stored.vary.isEmpty { return (stored, true) }
        return (answer.stored(as: fields, of: url), false)
    }

    /// Whether a response from an intermediate cache is older than the stored one, by its `Date`.
    /// The dates of other responses tell nothing, because clocks may have been set.
    func isOutdated(
        _ answer: OriginClient.Answer, of url: URL, by known: StoredResponse
    ) -> Bool {
        guard answer.fields.contains("Age") else { return false }
        let stored = answer.stored(as: answer.fields, of: url)
        guard let date = stored.date, let knownDate = known.date else { return false }
        return date < knownDate
    }

    /// Removes the fields that do not count by the settings.
    private func cleaned(_ fields: HTTPFields) -> HTTPFields {
        var fields = fields
        fields.remove([RemoteSource.digestField.lowercased(), "set-cookie"])
        if passesCacheControl {
            let names = fields.values("Vary").joined(separator: ",").lowercased()
                .split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
            if settledFields.isSuperset(of: names) { fields.remove(["vary"]) }
        } else {
            fields.remove(["cache-control", "expires", "pragma", "vary"])
        }
        return fields
    }
}

extension OriginClient.Answer {
    fileprivate func stored(as fields: HTTPFields, of url: URL) -> StoredResponse {
        StoredResponse(
            url: url, status: 200, fields: fields, requested: requested, received: received)
    }
}

extension Failure.Kind {
    /// The failure in terms of HTTP caching; `nil` for failures without a fault of the source.
    fileprivate var asCacheFailure: CacheRequestFailure? {
        switch self {
        case .sourceTimeout, .sourceUnreachable, .sourceIncomplete: .noAnswer
        case .sourceStatus(let status) where status >= 500: .status(status)
        case .sourceBusy: .status(429)
        default: nil
        }
    }
}
