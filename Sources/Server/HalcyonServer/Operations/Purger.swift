import Foundation
import HalcyonServerURLs
import HalcyonStorage

/// Purges sources and their results: from all caches of this server, and at all servers that share
/// a Redis with it.
struct Purger: Sendable {
    struct Forgotten: Sendable {
        /// Sources that were known here.
        let sources: Int
        /// Pictures that were known here.
        let results: Int
        /// Whether all servers that share something with this one were told; `nil` when there are none.
        let isTold: Bool?
    }

    let caches: LocalCaches
    let sources: SourceFinder
    /// `nil` when nothing is shared with other servers.
    let cluster: Cluster?

    /// Purges here and at all servers that share a Redis with this one.
    func forget(_ purge: Purge) async -> Forgotten {
        let gone = await caches.forget(purge)
        var isTold: Bool?
        if let cluster {
            isTold = await cluster.forget(
                purge, sources: gone.sharedSources(of: purge), pictures: gone.results.keys)
            // Until then it may have come back from there.
            await caches.forget(purge)
        }
        return Forgotten(sources: gone.sources.count, results: gone.results.count, isTold: isTold)
    }

    func forget(_ purges: [Purge]) async -> [Forgotten] {
        var forgotten: [Forgotten] = []
        for purge in purges { forgotten.append(await forget(purge)) }
        return forgotten
    }

    /// Returns the purges for a source, which need not be known.
    func purges(ofSource text: String) throws(PlanError) -> [Purge] {
        let reference = try sources.policy.reference(text)
        if let url = reference.url { return [.source(RemoteSource.key(of: url))] }
        if case .local(let path) = reference {
            return path.candidates.map { .file("local:///" + $0.joined(separator: "/")) }
        }
        throw PlanError(.unknownScheme, "There are no sources of this kind.")
    }
}

/// All caches of this server.
struct LocalCaches: Sendable {
    struct Gone: Sendable {
        let sources: Set<String>
        let results: (count: Int, keys: [String])

        /// Returns the keys of sources that others may be fetching, as far as they can be named.
        func sharedSources(of purge: Purge) -> Set<String> {
            if case .source(let key) = purge { sources.union([key]) } else { sources }
        }
    }

    let remote: RemoteSources?
    let results: ResultCache
    /// Pictures that could not be made.
    let failures: KnownFailures
    let infos: InfoReader
    let iiif: IIIFPictures?
    let standing: [StandingPicture]
    let purges: PurgeJournal

    @discardableResult
    func forget(_ purge: Purge) async -> Gone {
        // From now on nothing found before is kept.
        purges.note(purge)
        var sources: Set<String> = []
        switch purge {
        case .source(let key) where remote?.hasVariants == false:
            if await remote?.known.forget(key) == true { sources = [key] }
        case .source, .prefix, .everything:
            sources =
                await remote?.known.forget(where: { purge.matches(source: $0, url: $1) }) ?? []
        case .file, .plans: break
        }
        let results = await results.forget(purge, noting: purges)
        // They are soon made again.
        infos.forget()
        failures.removeAll()
        iiif?.forget()
        for picture in standing { picture.forget() }
        return Gone(sources: sources, results: results)
    }
}
