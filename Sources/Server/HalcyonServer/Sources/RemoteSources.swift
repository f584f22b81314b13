import Foundation
import HalcyonHTTP
import HalcyonServerURLs
import HalcyonTelemetry
import HalcyonWork

/// The pictures of other servers: cached ones, and those that have to be requested.
///
/// For each source there is one fetch at a time, shared by all requests.
final class RemoteSources: Sendable {
    enum Use: Hashable, Sendable {
        /// A hit, fresh for `ttl` more seconds; negative when it is stale and its server is being
        /// asked, or has failed.
        case hit(ttl: Int, detail: String)
        /// Its server has confirmed it.
        case validated
        case fetched
        case replaced
    }

    struct Found: Sendable {
        let source: RemoteSource
        let use: Use
        /// Whether the fetch was shared with another request.
        var isShared = false
        var glance: PictureGlance?
    }

    let known: KnownSources
    /// Whether one URL may have several sources.
    let hasVariants: Bool
    private let rules: SourceCachingRules
    private let renewal: SourceRenewal
    private let fetches: SharedTasks<String, SourceRenewal.Found>
    private let glances: PictureGlances?
    private let metrics: ServerMetrics
    private let spans: SpanScope
    private let time: TimeSource

    /// Which servers want to be left alone.
    var pauses: OriginPauses { renewal.client.pauses }

    init(
        _ configuration: ImageServerConfiguration, client: OriginClient, gate: Gate,
        folder: SourceFolder?, results: ResultCache, cluster: Cluster?, metrics: ServerMetrics,
        spans: SpanScope, time: TimeSource
    ) {
        let fetches = SharedTasks<String, SourceRenewal.Found>()
        self.fetches = fetches
        self.metrics = metrics
        self.spans = spans
        self.time = time
        hasVariants = configuration.sources.http.forwardHeaders.contains(
            where: ForwardedFields.tellsSourcesApart)
        rules = SourceCachingRules(configuration)
        // The present waiters get the fetched source, later requests do not.
        known = KnownSources(configuration.cache, in: folder, time: time) {
            fetches.separate($0.name)
        }
        glances = cluster.map { [known, rules] in
            PictureGlances(
                cluster: $0, sources: known, results: results, rules: rules, time: time)
        }
        renewal = SourceRenewal(
            client: client, gate: gate, rules: rules, sources: known, cluster: cluster,
            metrics: metrics, spans: spans, time: time,
            propagatesContext: configuration.tracing.propagatesContext)
    }

    /// Finds a source: a usable cached one, or by asking for it.
    ///
    /// - Parameters:
    ///   - visit: A visit that began before.
    ///   - naming: Names the picture to be made of it, which other servers may have.
    func find(
        _ url: URL, limit: Int, for asker: SourceAsker, during visit: PurgeVisit,
        until ending: Ending, naming: PictureNaming? = nil
    ) async throws(Failure) -> Found {
        let key = RemoteSource.key(of: url, asker.forwarded)
        let fetch = SourceFetch(url, key, limit: limit, asker: asker)
        let found = try await found(fetch, during: visit, until: ending, naming)
        // The limit of another request may have been higher.
        guard found.source.size <= limit else {
            throw Failure(.sourceTooLarge, "The source has more than \(limit) bytes")
        }
        return found
    }

    private func found(
        _ fetch: SourceFetch, during visit: PurgeVisit, until ending: Ending,
        _ naming: PictureNaming?
    ) async throws(Failure) -> Found {
        if let failure = known.failure(fetch.failureName) {
            metrics.noteCache("source", tier: "memory", "negative")
            throw failure
        }
        let source = await known.source(fetch.key)
        if let source {
            let now = time.date
            switch rules.decision(on: source.stored, for: fetch.url, at: now) {
            case .use:
                return hit(source, tier: source.tier, isStale: false, at: now, fetch, visit)
            case .useStale:
                return hit(source, tier: source.tier, isStale: true, at: now, fetch, visit)
            case .validate, .fetch, .unsatisfiable:
                break
            }
        }
        metrics.noteCache(
            "source", tier: source?.tier ?? "memory", source == nil ? "miss" : "stale")
        var glance: PictureGlance?
        if source == nil, fetch.asker.hops == 0, let glances, let naming {
            let seen = try await glances.look(fetch, naming, during: visit, until: ending)
            glance = seen?.glance
            if let seen, let source = seen.source {
                return hit(
                    source, tier: glance == nil ? source.tier : "shared", isStale: seen.isStale,
                    at: time.date, fetch, visit, glance)
            }
        }
        let start = time.now
        let (outcome, isShared) = await renewed(
            fetch, source, during: visit, until: ending,
            onSharing: { metrics.noteCollapsed("source") })
        // The fetch itself belongs to the trace of the request that began it.
        if isShared { spans.note("halcyon.shared", from: start) }
        let found = try outcome.get()
        return Found(source: found.source, use: found.use, isShared: isShared, glance: glance)
    }

    /// Returns the bytes of a found source; it is fetched again if they are lost by now, and may
    /// then have changed.
    func bytes(
        of source: RemoteSource, limit: Int, for asker: SourceAsker, until ending: Ending
    ) async throws(Failure) -> (Data, RemoteSource) {
        if let (body, source) = await known.body(of: source) { return (body, source) }
        let fetch = SourceFetch(
            source.stored.url, source.key, limit: limit, asker: asker, needsBody: true)
        let (outcome, _) = await renewed(fetch, nil, during: nil, until: ending)
        let found = try outcome.get().source
        guard let body = found.body else {
            throw Failure(.internalError, "A source has been lost while it was fetched")
        }
        return (body, found)
    }

    /// Writes the head of a source to the disk, if that was left for its next use.
    func keepOnDisk(_ source: RemoteSource) {
        known.keepOnDisk(source, freshUntil: rules.freshUntil(source.stored))
    }

    /// Returns a cached source; if it is stale, its server is asked in the background.
    private func hit(
        _ source: RemoteSource, tier: String, isStale: Bool, at now: Date, _ fetch: SourceFetch,
        _ visit: PurgeVisit, _ glance: PictureGlance? = nil
    ) -> Found {
        metrics.noteCache("source", tier: tier, isStale ? "stale" : "hit")
        let ttl = rules.secondsLeft(source.stored, at: now)
        guard isStale else {
            return Found(source: source, use: .hit(ttl: ttl, detail: tier), glance: glance)
        }
        renewInBackground(source, fetch, during: visit)
        return Found(
            source: source, use: .hit(ttl: min(ttl, -1), detail: "stale"), glance: glance)
    }

    private func renewInBackground(
        _ source: RemoteSource, _ fetch: SourceFetch, during visit: PurgeVisit
    ) {
        guard !fetches.isUnderWay(fetch.name) else { return }
        Task { _ = await renewed(fetch, source, during: visit, until: Ending()) }
    }

    /// Returns the present source, determined once for all waiting requests.
    private func renewed(
        _ fetch: SourceFetch, _ known: RemoteSource?, during visit: PurgeVisit?,
        until ending: Ending, onSharing: () -> Void = {}
    ) async -> (outcome: Result<SourceRenewal.Found, Failure>, isShared: Bool) {
        await fetches.value(
            for: fetch.name, until: ending, onSharing: onSharing,
            work: { [renewal] stopped in
                await renewal.found(fetch, known, during: visit, until: stopped)
            },
            // Not before: others may join the work until it is over, and a purge has to prevent
            // that.
            afterwards: { [known = self.known] in known.end(fetch) })
    }
}

extension RemoteSource {
    fileprivate var tier: String { body == nil ? "disk" : "memory" }
}
