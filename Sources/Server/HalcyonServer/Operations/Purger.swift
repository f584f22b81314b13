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

    let sources: SourceFinder
    let results: ResultCache
    /// Pictures that could not be made.
    let failures: KnownFailures
    let infos: InfoReader
    let iiif: IIIFPictures?
    let standing: [StandingPicture]
    /// `nil` when nothing is shared with other servers.
    var cluster: Cluster?

    /// Purges here and at all servers that share a Redis with this one.
    func forget(_ purges: [Purge]) async -> [Forgotten] {
        var forgotten: [Forgotten] = []
        for purge in purges { forgotten.append(await forget(purge)) }
        return forgotten
    }

    private func forget(_ purge: Purge) async -> Forgotten {
        let gone = await forgetHere(purge)
        var isTold: Bool?
        if let cluster {
            var sources = gone.sources
            // Others may be fetching it.
            if case .source(let key) = purge { sources.insert(key) }
            isTold = await cluster.forget(purge, sources: sources, pictures: gone.results.keys)
            // Until then it may have come back from there.
            await forgetHere(purge)
        }
        return Forgotten(sources: gone.sources.count, results: gone.results.count, isTold: isTold)
    }

    /// Purges from the caches of this server; returns the keys of sources and pictures that were known here.
    @discardableResult
    func forgetHere(
        _ purge: Purge
    ) async -> (sources: Set<String>, results: (count: Int, keys: [String])) {
        let (remote, purges) = (sources.remote, sources.purges)
        // From now on nothing found before is kept.
        purges.note(purge)
        var keys: Set<String> = []
        switch purge {
        case .source(let key) where remote?.hasVariants == false:
            if await remote?.known.forget(key) == true { keys = [key] }
        case .source, .prefix, .everything:
            keys = await remote?.known.forget(where: { purge.matches(source: $0, url: $1) }) ?? []
        case .file, .plans: break
        }
        let results = await results.forget(purge, noting: purges)
        // They are soon made again.
        infos.forget()
        failures.removeAll()
        iiif?.headers.removeAll()
        for picture in standing { picture.forget() }
        return (keys, results)
    }

    /// Returns the purges of a source, which need not be known, each with the key that results of the
    /// source may be cached under.
    func purges(ofSource text: String) throws(PlanError) -> [(purge: Purge, key: String)] {
        let reference = try sources.policy.reference(text)
        if let url = reference.url {
            let key = RemoteSource.key(of: url)
            return [(.source(key), key)]
        }
        if case .local(let path) = reference, let local = sources.local {
            return path.candidates.map { names in
                (
                    .file("local:///" + names.joined(separator: "/")),
                    FoundSource.key(ofFile: names, in: local)
                )
            }
        }
        throw PlanError(.unknownScheme, "There are no sources of this kind.")
    }
}
