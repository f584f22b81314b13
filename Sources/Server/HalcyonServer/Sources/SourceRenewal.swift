import Foundation
import HalcyonHTTP
import HalcyonServerURLs
import HalcyonTelemetry
import HalcyonWork
import Tracing

/// Updates a source: asks its server, or takes it from another image server, and caches it.
struct SourceRenewal: Sendable {
    struct Found: Sendable {
        let source: RemoteSource
        var use: RemoteSources.Use
        /// Whether it is cached, and so may be shared.
        var isKept = false
    }

    let client: OriginClient
    let gate: Gate
    let rules: SourceCachingRules
    let sources: KnownSources
    /// `nil` when nothing is shared with other servers.
    let cluster: Cluster?
    let metrics: ServerMetrics
    let spans: SpanScope
    let time: TimeSource
    /// Whether the trace context is sent to servers.
    let propagatesContext: Bool

    /// Returns the present source: from another image server or from its own server. The caller
    /// ends the fetch afterwards.
    ///
    /// - Parameter known: The cached source to confirm, if there is one.
    func found(
        _ fetch: SourceFetch, _ known: RemoteSource?, during visit: PurgeVisit?,
        until stopped: Ending
    ) async -> Result<Found, Failure> {
        // Until this is over, a purge finds the fetch and keeps later requests from joining it.
        sources.begin(fetch)
        // Another request may have been faster since the lookup.
        if let newer = sources.inMemory(fetch.key), newer !== known, newer.body != nil,
            newer.stored.received >= known?.stored.received ?? .distantPast
        {
            return .success(Found(source: newer, use: .fetched))
        }
        // The cached source may have been purged; a purge from now on keeps this fetch from being
        // cached.
        let known = visit?.isUndisturbed == false ? nil : known
        // A request that the source has led back here must not wait for earlier requests.
        guard let cluster, fetch.asker.hops == 0 else { return await asked(fetch, known, as: nil) }
        let outcome = await cluster.source(
            fetch.key, url: fetch.url.absoluteString, needsBody: fetch.needsBody, until: stopped,
            isGood: { self.isGood($0, fetch, known) },
            accept: { await self.taken($0, fetch, known) },
            asking: { turn in
                let known = self.confirmable(known, fetch, turn)
                let found = await self.asked(fetch, known, as: turn.generation)
                return (found, self.tellable(found))
            })
        // After a failure of another server, the source may still be here, though stale.
        if case .failure(let failure) = outcome { return failed(failure, fetch, known) }
        return outcome
    }

    /// Asks the server about a source.
    ///
    /// - Parameter generation: The generation of the response among servers. A stale source used
    ///   after a failure keeps its own.
    private func asked(
        _ fetch: SourceFetch, _ known: RemoteSource?, as generation: Int64?
    ) async -> Result<Found, Failure> {
        do throws(Failure) {
            let answer = try await answer(to: fetch, unless: known)
            metrics.noteSourceResponse(answer.status)
            if answer.status == 304, let known {
                return await confirmed(known, answer, fetch, as: generation)
            }
            return .success(await taken(answer, fetch, known, as: generation))
        } catch {
            return failed(error, fetch, known)
        }
    }

    private func answer(
        to fetch: SourceFetch, unless known: RemoteSource?
    ) async throws(Failure) -> OriginClient.Answer {
        let queued = time.now
        let place = try await gate.enter(group: fetch.url.host ?? "")
        defer { gate.leave(place) }
        _ = metrics.noteStage("queue_download", since: queued)
        spans.note("halcyon.queue", from: queued, ["halcyon.gate": .string(gate.name)])
        return try await client.fetch(
            fetch.url, maximumBytes: fetch.limit, for: fetch.asker,
            unless: known?.stored.condition, spans: spans, propagating: propagatesContext)
    }

    private func confirmed(
        _ known: RemoteSource, _ answer: OriginClient.Answer, _ fetch: SourceFetch,
        as generation: Int64?
    ) async -> Result<Found, Failure> {
        guard
            let (stored, isStorable) = rules.freshened(known.stored, by: answer, for: fetch.url)
        else {
            // The server speaks of another picture: it is asked again without a condition.
            await sources.drop(fetch, fromDisk: false)
            return await asked(fetch, nil, as: generation).map { found in
                var found = found
                if found.use == .fetched { found.use = .replaced }
                return found
            }
        }
        let source = known.confirmed(stored, sharedGeneration: generation)
        guard isStorable else {
            // Its bytes are still needed for this once, and may be on the disk only.
            let held = await sources.body(of: source)?.holder ?? source
            await sources.drop(fetch, fromDisk: true)
            return .success(Found(source: held, use: .validated))
        }
        let isKept = await sources.freshen(
            source, freshUntil: rules.freshUntil(stored), of: fetch)
        return .success(Found(source: source, use: .validated, isKept: isKept))
    }

    private func taken(
        _ answer: OriginClient.Answer, _ fetch: SourceFetch, _ known: RemoteSource?,
        as generation: Int64?
    ) async -> Found {
        if let known, rules.isOutdated(answer, of: fetch.url, by: known.stored),
            sources.isWanted(fetch)
        {
            // A later request may get a more recent response.
            return Found(source: known, use: .validated)
        }
        let use = known == nil ? RemoteSources.Use.fetched : .replaced
        let (stored, isStorable) = rules.stored(answer, of: fetch.url)
        let source = RemoteSource(
            new: stored, key: fetch.key, body: answer.body, sharedGeneration: generation)
        guard isStorable else {
            await sources.drop(fetch, fromDisk: true)
            return Found(source: source, use: use)
        }
        let isKept = await sources.keep(
            source, answer.body, freshUntil: rules.freshUntil(stored), of: fetch)
        return Found(source: source, use: use, isKept: isKept)
    }

    /// Returns the cached source if it may be used stale; otherwise the failure, which is
    /// remembered.
    private func failed(
        _ failure: Failure, _ fetch: SourceFetch, _ known: RemoteSource?
    ) -> Result<Found, Failure> {
        let now = time.date
        if let known, rules.usesStale(known.stored, after: failure, at: now) {
            let ttl = min(rules.secondsLeft(known.stored, at: now), -1)
            return .success(Found(source: known, use: .hit(ttl: ttl, detail: "stale-if-error")))
        }
        sources.note(failure, of: fetch)
        return .failure(failure)
    }
}

extension SourceRenewal {
    /// Whether another server's source needs no validation, and is not older than the cached one.
    private func isGood(
        _ head: SharedHead, _ fetch: SourceFetch, _ known: RemoteSource?
    ) -> Bool {
        guard head.length <= fetch.limit,
            case .use = rules.decision(on: head.stored, for: fetch.url, at: time.date)
        else { return false }
        return known.map { head.stored.isAtLeastAsNew(as: $0.stored) } ?? true
    }

    /// Returns the source that its server may confirm: the cached one, unless it was purged, or the
    /// one that other servers have.
    private func confirmable(
        _ known: RemoteSource?, _ fetch: SourceFetch, _ turn: SourceTurn
    ) -> RemoteSource? {
        if let known, !turn.mark.isAfter(known.sharedGeneration) { return known }
        // Useless without its bytes where those are needed.
        guard !fetch.needsBody, let (head, generation) = turn.outdated, head.length <= fetch.limit,
            !turn.mark.isAfter(generation)
        else { return nil }
        return RemoteSource(head, key: fetch.key, sharedGeneration: generation)
    }

    /// Caches a source of another server.
    private func taken(
        _ shared: SharedSource, _ fetch: SourceFetch, _ known: RemoteSource?
    ) async -> Found? {
        guard let source = await kept(shared, fetch, known) else { return nil }
        metrics.noteCache("source", tier: "shared", "hit")
        let ttl = rules.secondsLeft(shared.head.stored, at: time.date)
        return Found(source: source, use: .hit(ttl: ttl, detail: "shared"), isKept: true)
    }

    /// Returns the cached source; `nil` when it may not be cached.
    private func kept(
        _ shared: SharedSource, _ fetch: SourceFetch, _ known: RemoteSource?
    ) async -> RemoteSource? {
        let stored = shared.head.stored
        let freshUntil = rules.freshUntil(stored)
        if let body = shared.body {
            let source = RemoteSource(
                new: stored, key: fetch.key, body: body, sharedGeneration: shared.generation)
            let isKept = await sources.keep(source, body, freshUntil: freshUntil, of: fetch)
            return isKept ? source : nil
        }
        let source = RemoteSource(
            shared.head, key: fetch.key, sharedGeneration: shared.generation)
        if let known, !shared.mark.isAfter(known.sharedGeneration), known.size == source.size,
            known.validator == source.validator
        {
            let confirmed = known.confirmed(stored, sharedGeneration: shared.generation)
            let isKept = await sources.freshen(confirmed, freshUntil: freshUntil, of: fetch)
            return isKept ? confirmed : nil
        }
        return sources.remember(source, of: fetch) ? source : nil
    }

    /// Returns the source to publish; `nil` when each server has to ask for itself.
    private func tellable(_ found: Result<Found, Failure>) -> TellableSource? {
        guard case .success(let found) = found, found.isKept else { return nil }
        let source = found.source
        guard rules.secondsLeft(source.stored, at: time.date) > 0 else { return nil }
        return TellableSource(
            head: SharedHead(source.stored, length: source.size), validator: source.validator,
            isConfirmed: found.use == .validated
        ) { [sources] in await sources.body(of: source)?.body }
    }
}
