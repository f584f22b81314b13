import Foundation
import HalcyonHTTP
import HalcyonServerPlans
import HalcyonTelemetry
import HalcyonWork

/// The pictures of other servers: what is known of them, and what has to be asked.
///
/// For each source there is one fetch at a time, whoever wants it.
final class RemoteSources: Sendable {
    /// How a source was had.
    enum Use: Hashable, Sendable {
        /// It was known, and is good for so many seconds more; fewer than none for one whose server is
        /// being asked, or has failed.
        case hit(ttl: Int, detail: String)
        /// Its server has confirmed it.
        case validated
        /// Nothing was known.
        case fetched
        /// It has come in the place of one that was known.
        case replaced
    }

    /// What is kept.
    let known: KnownSources
    /// Whether there may be several sources of one URL.
    let hasVariants: Bool
    private let rules: SourceCachingRules
    private let renewal: SourceRenewal
    private let fetches: SharedTasks<String, SourceRenewal.Found>
    private let metrics: ServerMetrics
    private let spans: SpanScope

    init(
        _ configuration: ImageServerConfiguration, client: OriginClient, gate: Gate,
        folder: SourceFolder?, cluster: Cluster?, metrics: ServerMetrics,
        spans: SpanScope
    ) {
        let fetches = SharedTasks<String, SourceRenewal.Found>()
        self.fetches = fetches
        self.metrics = metrics
        self.spans = spans
        hasVariants = configuration.sources.http.forwardHeaders.contains(
            where: ForwardedFields.tellsSourcesApart)
        rules = SourceCachingRules(configuration)
        // Those who wait get what is fetched, and nobody after them.
        known = KnownSources(configuration.cache, in: folder) { fetches.separate($0.name) }
        renewal = SourceRenewal(
            client: client, gate: gate, rules: rules, sources: known, cluster: cluster,
            metrics: metrics, spans: spans,
            propagatesContext: configuration.tracing.propagatesContext)
    }

    /// Finds a source: known and good, or asked for.
    ///
    /// - Parameters:
    ///   - limit: Bytes that the source may have.
    ///   - visit: Begun before this.
    /// - Returns: Also how it was had, and whether somebody else had asked for it.
    func find(
        _ url: URL, limit: Int, for asker: SourceAsker, during visit: PurgeVisit,
        until ending: Ending
    ) async throws(Failure) -> (source: RemoteSource, use: Use, isShared: Bool) {
        let key = RemoteSource.key(of: url, asker.forwarded)
        let fetch = SourceFetch(url, key, limit: limit, asker: asker)
        let found = try await found(fetch, during: visit, until: ending)
        // For others it may have been more.
        guard found.source.size <= limit else {
            throw Failure(.sourceTooLarge, "The source has more than \(limit) bytes")
        }
        return found
    }

    private func found(
        _ fetch: SourceFetch, during visit: PurgeVisit, until ending: Ending
    ) async throws(Failure) -> (source: RemoteSource, use: Use, isShared: Bool) {
        if let failure = known.failure(fetch.name) {
            metrics.noteCache("source", tier: "memory", "negative")
            throw failure
        }
        let source = await known.source(fetch.key)
        if let source {
            let now = Date()
            let ttl = rules.secondsLeft(source.stored, at: now)
            switch rules.decision(on: source.stored, for: fetch.url, at: now) {
            case .use:
                metrics.noteCache("source", tier: source.tier, "hit")
                return (source, .hit(ttl: ttl, detail: source.tier), false)
            case .useStale:
                metrics.noteCache("source", tier: source.tier, "stale")
                renewInBackground(source, fetch, during: visit)
                return (source, .hit(ttl: min(ttl, -1), detail: "stale"), false)
            case .validate, .fetch, .unsatisfiable:
                break
            }
        }
        metrics.noteCache(
            "source", tier: source?.tier ?? "memory", source == nil ? "miss" : "stale")
        let start = ContinuousClock.now
        let (outcome, isShared) = await renewed(
            fetch, source, during: visit, until: ending,
            onSharing: { metrics.noteCollapsed("source") })
        // The fetch itself is part of the trace of whoever began it.
        if isShared { spans.note("halcyon.shared", from: start) }
        let found = try outcome.get()
        return (found.source, found.use, isShared)
    }

    /// The bytes of a source that was found; it is fetched again if they are lost by now, and may then be
    /// another one.
    func bytes(
        of source: RemoteSource, limit: Int, for asker: SourceAsker, until ending: Ending
    ) async throws(Failure) -> (Data, RemoteSource) {
        if let (body, source) = await known.body(of: source) { return (body, source) }
        let fetch = SourceFetch(source.stored.url, source.key, limit: limit, asker: asker)
        let (outcome, _) = await renewed(fetch, nil, during: nil, until: ending)
        let found = try outcome.get().source
        guard let body = found.body else {
            throw Failure(.internalError, "A source has been lost while it was fetched")
        }
        return (body, found)
    }

    private func renewInBackground(
        _ source: RemoteSource, _ fetch: SourceFetch, during visit: PurgeVisit
    ) {
        guard !fetches.isUnderWay(fetch.name) else { return }
        Task { _ = await renewed(fetch, source, during: visit, until: Ending()) }
    }

    /// What a source is now, found out once for all who want to know.
    private func renewed(
        _ fetch: SourceFetch, _ known: RemoteSource?, during visit: PurgeVisit?,
        until ending: Ending, onSharing: () -> Void = {}
    ) async -> (outcome: Result<SourceRenewal.Found, Failure>, isShared: Bool) {
        await fetches.value(
            for: fetch.name, until: ending, onSharing: onSharing,
            work: { [renewal] stopped in
                await renewal.found(fetch, known, during: visit, until: stopped)
            },
            // Not before: until the work is over others may join it, which a purge has to keep from that.
            afterwards: { [known = self.known] in known.end(fetch) })
    }
}

extension RemoteSource {
    /// Where it was found.
    fileprivate var tier: String { body == nil ? "disk" : "memory" }
}
