import Foundation
import HalcyonHTTP
import HalcyonServerPlans

/// Names the picture that is to be made of a source, by the source's key and URL; `nil` for one that is not shared.
typealias PictureNaming =
    @Sendable (_ source: String, _ url: String) async -> SharedPictureName?

/// Looks whether other servers have a picture of whose source nothing is known here. Then neither that source
/// nor what is known of it has to be asked for: one question to Redis and, of a large picture, one request to the
/// store of bytes.
struct PictureGlances: Sendable {
    struct Seen: Sendable {
        /// Without its bytes, which are fetched when they are needed; `nil` when the look was in vain.
        let source: RemoteSource?
        let glance: PictureGlance
    }

    private let cluster: Cluster
    private let sources: KnownSources
    private let rules: SourceCachingRules
    private let looks = SharedTasks<String, Seen?>()

    init(cluster: Cluster, sources: KnownSources, rules: SourceCachingRules) {
        self.cluster = cluster
        self.sources = sources
        self.rules = rules
    }

    /// Looks once for all who want the same picture and have come since the last purge.
    func look(
        _ fetch: SourceFetch, _ naming: PictureNaming, during visit: PurgeVisit,
        until ending: Ending
    ) async throws(Failure) -> Seen? {
        guard let name = await naming(fetch.key, fetch.url.absoluteString) else { return nil }
        let (outcome, _) = await looks.value(
            for: "\(name.text) \(visit.start)", until: ending
        ) { _ in
            .success(await self.seen(name, fetch))
        }
        return try outcome.get()
    }

    private func seen(_ name: SharedPictureName, _ fetch: SourceFetch) async -> Seen? {
        // What is purged from now on takes the right to keep from this fetch.
        sources.begin(fetch)
        defer { sources.end(fetch) }
        let glance = await cluster.glance(at: name) { source in
            guard source.length <= fetch.limit,
                case .use = rules.decision(on: source.stored, for: fetch.url, at: Date())
            else { return false }
            return true
        }
        guard let glance, let found = glance.found else {
            return glance.map { Seen(source: nil, glance: $0) }
        }
        let known = found.source.head
        let source = RemoteSource(head: known.stored, key: fetch.key, size: known.length)
        source.setSharedGeneration(found.source.generation)
        return sources.remember(source, of: fetch) ? Seen(source: source, glance: glance) : nil
    }
}
