import Foundation
import HalcyonHTTP
import HalcyonServerURLs
import HalcyonWork

/// Names the picture that is to be made of a source, by the source's key and URL; `nil` for one that is not shared.
typealias PictureNaming = @Sendable (_ source: String, _ url: String) async -> SharedPictureName?

/// Looks up pictures at other servers while nothing is known here of their sources. After a hit
/// neither the source nor its head has to be fetched: the cost is one request to Redis and, for a
/// large picture, one to the store of bytes.
struct PictureGlances: Sendable {
    struct Seen: Sendable {
        /// The source, whose bytes are fetched on demand; `nil` when the lookup was in vain.
        let source: RemoteSource?
        /// `nil` for a source that has become known here meanwhile.
        let glance: PictureGlance?
        /// Whether the source is stale, but usable while its server is asked.
        var isStale = false
    }

    let cluster: Cluster
    let sources: KnownSources
    let results: ResultCache
    let rules: SourceCachingRules
    let time: TimeSource
    private let looks = SharedTasks<String, Seen?>()

    /// Looks up once for all callers that want the same picture and have come since the last purge.
    func look(
        _ fetch: SourceFetch, _ naming: PictureNaming, during visit: PurgeVisit,
        until ending: Ending
    ) async throws(Failure) -> Seen? {
        guard let name = await naming(fetch.key, fetch.url.absoluteString) else { return nil }
        let (outcome, _) = await looks.value(
            for: "\(name.text) \(visit.start)", until: ending
        ) { _ in
            .success(await self.seen(name, fetch, during: visit))
        }
        return try outcome.get()
    }

    private func seen(
        _ name: SharedPictureName, _ fetch: SourceFetch, during visit: PurgeVisit
    ) async -> Seen? {
        // Another request may have been faster since the lookup in memory.
        if let source = sources.inMemory(fetch.key),
            use(of: source.stored, source.size, fetch) == .fresh
        {
            return Seen(source: source, glance: nil)
        }
        // What is purged from now on takes the right to keep from this fetch.
        sources.begin(fetch)
        defer { sources.end(fetch) }
        let glance = await cluster.glance(at: name) { await self.current($0, fetch) }
        guard let glance, let found = glance.found else {
            return glance.map { Seen(source: nil, glance: $0) }
        }
        let source = RemoteSource(
            found.source.head, key: fetch.key, sharedGeneration: found.source.generation)
        // First, so that nobody finds the source and asks for the picture again.
        results.remember(found.picture, found.key, of: name.origin, during: visit)
        guard sources.remember(source, of: fetch) else { return nil }
        return Seen(
            source: source, glance: glance,
            isStale: use(of: source.stored, source.size, fetch) != .fresh)
    }

    /// Returns the present head of a source, if a picture of the published version may be sent.
    private func current(
        _ told: SharedPictureHead.Source, _ fetch: SourceFetch
    ) async -> SharedPictureHead.Source? {
        let use = use(of: told.head.stored, told.head.length, fetch)
        if use == .fresh { return told }
        // Its server may have been asked since: it has confirmed that version, or has another one.
        switch await cluster.lastWord(of: fetch.key, url: fetch.url.absoluteString) {
        case .nothing: return use == .stale ? told : nil
        case .failed: return nil
        case .source(let newer):
            guard newer.head.validator == told.head.validator,
                self.use(of: newer.head.stored, newer.head.length, fetch) != nil
            else { return nil }
            return newer
        }
    }

    private enum Use {
        case fresh
        /// Usable while its server is asked.
        case stale
    }

    /// Whether a source may be used now; `nil` when its server has to be asked first.
    private func use(of stored: StoredResponse, _ size: Int, _ fetch: SourceFetch) -> Use? {
        guard size <= fetch.limit else { return nil }
        switch rules.decision(on: stored, for: fetch.url, at: time.date) {
        case .use: return .fresh
        case .useStale: return .stale
        case .validate, .fetch, .unsatisfiable: return nil
        }
    }
}
