import Foundation
import HalcyonHTTP
import HalcyonServerURLs
import HalcyonStorage
import HalcyonWork
import Synchronization

/// One lookup of a source at its server or at other servers. Its result is cached only as long as
/// ``KnownSources`` allows it.
struct SourceFetch: Hashable, Sendable {
    let url: URL
    let key: String
    let limit: Int
    let asker: SourceAsker
    /// Whether the bytes are needed, not only the head.
    let needsBody: Bool
    private let id = Self.count.wrappingAdd(1, ordering: .relaxed).newValue

    /// A number is made faster than a random name: there is one fetch for each request.
    private static let count = Atomic(0)

    static func == (one: SourceFetch, other: SourceFetch) -> Bool { one.id == other.id }
    func hash(into hasher: inout Hasher) { hasher.combine(id) }

    init(_ url: URL, _ key: String, limit: Int, asker: SourceAsker, needsBody: Bool = false) {
        self.url = url
        self.key = key
        self.limit = limit
        self.asker = asker
        self.needsBody = needsBody
    }

    /// The key for sharing fetches. A request that a source has led back here must not wait for the
    /// fetch of that source.
    var name: String { failureName + (needsBody ? " body" : "") }

    var failureName: String { "\(key) \(limit) \(asker.hops)" }
}

/// The cache of sources from other servers, in memory and on the disk, and of recent failures to
/// load them. A fetch can only cache a source that has not been purged since it began.
final class KnownSources: Sendable {
    private let memory: MemoryStorage.Backend<RemoteSource>
    private let folder: SourceFolder?
    private let failures: KnownFailures
    /// The fetches that may still cache their results.
    let underWay = Observed<Set<SourceFetch>>([])
    /// The number of purges.
    private let forgotten = Mutex(0)
    private let onForgetting: @Sendable (SourceFetch) -> Void

    /// - Parameter onForgetting: Called for each fetch under way of a purged source; later requests
    ///   must not share its outcome.
    init(
        _ cache: ImageServerConfiguration.Cache, in folder: SourceFolder?, time: TimeSource,
        onForgetting: @escaping @Sendable (SourceFetch) -> Void
    ) {
        self.folder = folder
        self.onForgetting = onForgetting
        var config = MemoryStorage.Config(totalCostLimit: max(1, cache.sources.memoryBytes))
        config.expiration = .seconds(cache.sources.maxAge.inSeconds)
        memory = MemoryStorage.Backend(config: config, now: time.expirationDate)
        failures = KnownFailures(for: cache.negativeTTL, time: time)
    }

    var memoryUsage: TierUsage { TierUsage(of: memory) }

    func diskUsage() async -> TierUsage { await folder?.usage() ?? TierUsage() }

    func clean() async { await folder?.clean() }

    /// Returns the cached source; its body may be on the disk.
    func source(_ key: String) async -> RemoteSource? {
        if let source = inMemory(key) { return source }
        let seen = forgotten.withLock { $0 }
        guard let source = await folder?.source(key) else { return nil }
        remember(source, since: seen)
        return source
    }

    func inMemory(_ key: String) -> RemoteSource? { memory.value(forKey: key) }

    /// Returns the body of a source, from the disk if need be; `nil` when it is lost.
    func body(of source: RemoteSource) async -> (body: Data, holder: RemoteSource)? {
        if let body = source.body { return (body, source) }
        let seen = forgotten.withLock { $0 }
        guard let body = await folder?.body(of: source) else { return nil }
        let held = source.holding(body)
        remember(held, since: seen)
        return (body, held)
    }

    /// Caches a source read from the disk, unless there was a purge meanwhile.
    private func remember(_ source: RemoteSource, since seen: Int) {
        forgotten.withLock { if $0 == seen { memory.store(value: source, forKey: source.key) } }
    }
}

extension KnownSources {
    /// Lets a fetch cache its result, until ``end(_:)`` or until its source is purged.
    func begin(_ fetch: SourceFetch) { underWay.update { _ = $0.insert(fetch) } }

    func end(_ fetch: SourceFetch) { underWay.update { _ = $0.remove(fetch) } }

    func isWanted(_ fetch: SourceFetch) -> Bool { underWay.read { $0.contains(fetch) } }

    /// Caches a source with its body; returns whether it is cached.
    func keep(
        _ source: RemoteSource, _ body: Data, freshUntil: Date, of fetch: SourceFetch
    ) async -> Bool {
        guard remember(source, of: fetch) else { return false }
        await folder?.put(source, body, freshUntil: freshUntil) { self.isWanted(fetch) }
        if isWanted(fetch) { return true }
        await folder?.remove(fetch.key)
        return false
    }

    /// Writes the head of a source without local bytes to the disk, unless that has been done.
    func keepOnDisk(_ source: RemoteSource, freshUntil: Date) {
        guard let folder, source.takeTurn() else { return }
        let fetch = SourceFetch(source.stored.url, source.key, limit: 0, asker: SourceAsker())
        begin(fetch)
        Task {
            defer { end(fetch) }
            // A purge from now on prevents the writing, and one before has removed it from memory.
            guard inMemory(source.key)?.generation == source.generation else { return }
            await folder.putHead(source, freshUntil: freshUntil) { self.isWanted(fetch) }
            if !isWanted(fetch) { await folder.remove(fetch.key) }
        }
    }

    /// Updates the cached source after its server has confirmed it; returns whether it is cached.
    func freshen(
        _ source: RemoteSource, freshUntil: Date, of fetch: SourceFetch
    ) async -> Bool {
        guard remember(source, of: fetch) else { return false }
        await folder?.freshen(source, freshUntil: freshUntil)
        return true
    }

    /// Caches a source in memory only, unless a newer one is cached: a lookup at other servers that began
    /// before one of them purged the source may end after this server has fetched it again; returns whether
    /// it is cached.
    func remember(_ source: RemoteSource, of fetch: SourceFetch) -> Bool {
        // A purge removes it from this set first, and then from memory.
        underWay.read { fetches in
            guard fetches.contains(fetch) else { return false }
            let known = memory.value(forKey: source.key, extendingExpiration: .none)
            if let known, source.isOlder(than: known) { return false }
            memory.store(value: source, forKey: source.key)
            return true
        }
    }

    /// Removes a source that is not valid any more: from memory only, or from the disk as well.
    func drop(_ fetch: SourceFetch, fromDisk: Bool) async {
        // After a purge there may be another one by now.
        guard isWanted(fetch) else { return }
        memory.remove(forKey: fetch.key)
        if fromDisk { await folder?.remove(fetch.key) }
    }

    func failure(_ name: String) -> Failure? { failures[name] }

    func note(_ failure: Failure, of fetch: SourceFetch) {
        // Not if the source was purged after the fetch began.
        if isWanted(fetch) { failures.note(failure, for: fetch.failureName) }
    }
}

extension KnownSources {
    /// Removes a source, and prevents present fetches of it from being cached; returns whether it was cached.
    func forget(_ key: String) async -> Bool {
        let (isKnown, wasStored) = await forget(
            fetchesWhere: { $0.key == key },
            inMemory: {
                defer { memory.remove(forKey: key) }
                return memory.isCached(forKey: key)
            }, onDisk: { await $0.remove(key) })
        return isKnown || wasStored == true
    }

    /// Removes all matching sources, likewise; returns the keys of the removed sources.
    func forget(
        where isMeant: @escaping @Sendable (_ key: String, _ url: String) -> Bool
    ) async -> Set<String> {
        let (known, stored) = await forget(
            fetchesWhere: { isMeant($0.key, $0.url.absoluteString) },
            inMemory: { memory.removeAll { isMeant($0.key, $0.stored.url.absoluteString) } },
            onDisk: { await $0.remove(where: isMeant) })
        return (stored ?? []).union(known.map(\.key))
    }

    private func forget<Known: Sendable, Stored>(
        fetchesWhere isMeant: (SourceFetch) -> Bool, inMemory: () -> Known,
        onDisk: (SourceFolder) async -> Stored
    ) async -> (Known, Stored?) {
        func forgetNow() -> Known {
            let fetches = underWay.update { fetches in
                let meant = fetches.filter(isMeant)
                fetches.subtract(meant)
                return meant
            }
            for fetch in fetches { onForgetting(fetch) }
            defer { failures.removeAll() }
            return forgotten.withLock {
                $0 += 1
                return inMemory()
            }
        }
        let known = forgetNow()
        guard let folder else { return (known, nil) }
        let stored = await onDisk(folder)
        // Until then some may have come back from the disk.
        _ = forgetNow()
        return (known, stored)
    }
}
