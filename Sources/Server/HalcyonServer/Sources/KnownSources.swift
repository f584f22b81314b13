import Foundation
import HalcyonHTTP
import HalcyonServerURLs
import HalcyonStorage
import HalcyonWork
import Synchronization

/// One look for a source at its server or at other servers. What it finds is kept only as long as
/// ``KnownSources`` lets it.
struct SourceFetch: Hashable, Sendable {
    let url: URL
    let key: String
    /// Bytes that the source may have.
    let limit: Int
    let asker: SourceAsker
    /// Whether the bytes are needed, not only what its server says of them.
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

    /// What fetches are shared by. A request that a source has led back here must not wait for the fetch of that
    /// source.
    var name: String { failureName + (needsBody ? " body" : "") }

    /// What failures are remembered by.
    var failureName: String { "\(key) \(limit) \(asker.hops)" }
}

/// The pictures of other servers that are kept here, in memory and on the disk, and those that could not be
/// had a moment ago. A fetch can only keep what has not been forgotten since it began.
final class KnownSources: Sendable {
    private let memory: MemoryStorage.Backend<RemoteSource>
    private let folder: SourceFolder?
    private let failures: KnownFailures
    /// The fetches that may still keep what they find.
    private let underWay = Mutex<Set<SourceFetch>>([])
    /// How often something has been forgotten.
    private let forgotten = Mutex(0)
    private let onForgetting: @Sendable (SourceFetch) -> Void

    /// - Parameter onForgetting: Called for each fetch under way of what is forgotten, whose outcome nobody
    ///   is to share who asks later.
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

    /// Removes what nobody has used for too long from the disk.
    func clean() async { await folder?.clean() }

    /// What is known of a source; its body may be on the disk.
    func source(_ key: String) async -> RemoteSource? {
        if let source = inMemory(key) { return source }
        let seen = forgotten.withLock { $0 }
        guard let source = await folder?.source(key) else { return nil }
        remember(source, since: seen)
        return source
    }

    func inMemory(_ key: String) -> RemoteSource? { memory.value(forKey: key) }

    /// The body of a source that may be on the disk; `nil` when it is lost.
    func body(of source: RemoteSource) async -> (body: Data, holder: RemoteSource)? {
        if let body = source.body { return (body, source) }
        let seen = forgotten.withLock { $0 }
        guard let body = await folder?.body(of: source) else { return nil }
        let held = source.holding(body)
        remember(held, since: seen)
        return (body, held)
    }

    /// What was forgotten while the disk was read does not come back.
    private func remember(_ source: RemoteSource, since seen: Int) {
        forgotten.withLock { if $0 == seen { memory.store(value: source, forKey: source.key) } }
    }
}

extension KnownSources {
    /// Lets a fetch keep what it finds, until ``end(_:)`` or until its source is forgotten.
    func begin(_ fetch: SourceFetch) { underWay.withLock { _ = $0.insert(fetch) } }

    func end(_ fetch: SourceFetch) { underWay.withLock { _ = $0.remove(fetch) } }

    /// Whether what a fetch finds may still be kept.
    func isWanted(_ fetch: SourceFetch) -> Bool { underWay.withLock { $0.contains(fetch) } }

    /// Keeps a source with its body.
    ///
    /// - Returns: Whether it is kept.
    func keep(
        _ source: RemoteSource, _ body: Data, freshUntil: Date, of fetch: SourceFetch
    ) async -> Bool {
        guard remember(source, of: fetch) else { return false }
        await folder?.put(source, body, freshUntil: freshUntil) { self.isWanted(fetch) }
        if isWanted(fetch) { return true }
        await folder?.remove(fetch.key)
        return false
    }

    /// Writes what is in memory of a source whose bytes are not here on the disk, unless that has been done.
    func keepOnDisk(_ source: RemoteSource, freshUntil: Date) {
        guard let folder, source.takeTurn() else { return }
        let fetch = SourceFetch(source.stored.url, source.key, limit: 0, asker: SourceAsker())
        begin(fetch)
        Task {
            defer { end(fetch) }
            // What is forgotten from now on is not written, and what was forgotten before is not in memory.
            guard inMemory(source.key)?.generation == source.generation else { return }
            await folder.putHead(source, freshUntil: freshUntil) { self.isWanted(fetch) }
            if !isWanted(fetch) { await folder.remove(fetch.key) }
        }
    }

    /// Keeps a source whose server has confirmed what is known.
    ///
    /// - Returns: Whether it is kept.
    func freshen(
        _ source: RemoteSource, freshUntil: Date, of fetch: SourceFetch
    ) async -> Bool {
        guard remember(source, of: fetch) else { return false }
        await folder?.freshen(source, freshUntil: freshUntil)
        return true
    }

    /// Keeps what is known of a source in memory alone, unless something newer is known: a look at other servers that
    /// began before one of them purged the source may end after this one has fetched it again.
    ///
    /// - Returns: Whether it is kept.
    func remember(_ source: RemoteSource, of fetch: SourceFetch) -> Bool {
        // Whoever forgets it takes it out of this set first, and then out of memory.
        underWay.withLock { underWay in
            guard underWay.contains(fetch) else { return false }
            let known = memory.value(forKey: source.key, extendingExpiration: .none)
            if let known, source.isOlder(than: known) { return false }
            memory.store(value: source, forKey: source.key)
            return true
        }
    }

    /// Removes what turns out to be no longer good: from memory only, or from the disk as well.
    func drop(_ fetch: SourceFetch, fromDisk: Bool) async {
        // Another one may be there by now, after this has been forgotten.
        guard isWanted(fetch) else { return }
        memory.remove(forKey: fetch.key)
        if fromDisk { await folder?.remove(fetch.key) }
    }

    /// The failure of a fetch with this name a moment ago.
    func failure(_ name: String) -> Failure? { failures[name] }

    /// Remembers a failure, if it is one that would repeat.
    func note(_ failure: Failure, of fetch: SourceFetch) {
        // Not what was asked before somebody had it forgotten.
        if isWanted(fetch) { failures.note(failure, for: fetch.failureName) }
    }
}

extension KnownSources {
    /// Forgets a source, and has what is being fetched of it now not kept.
    ///
    /// - Returns: Whether it was known.
    func forget(_ key: String) async -> Bool {
        let isKnown = memory.isCached(forKey: key)
        func forgetNow() {
            beginForgetting { $0.key == key }
            forgotten.withLock {
                $0 += 1
                memory.remove(forKey: key)
            }
            failures.removeAll()
        }
        forgetNow()
        guard let folder else { return isKnown }
        let wasStored = await folder.remove(key)
        // Until then it may have come back from the disk.
        forgetNow()
        return isKnown || wasStored
    }

    /// The same of all sources that are meant.
    ///
    /// - Returns: The keys of those that were known here.
    func forget(where isMeant: @escaping @Sendable (_ key: String, _ url: String) -> Bool) async
        -> Set<String>
    {
        func forgetNow() -> [String] {
            beginForgetting { isMeant($0.key, $0.url.absoluteString) }
            defer { failures.removeAll() }
            return forgotten.withLock { count in
                count += 1
                return memory.removeAll { isMeant($0.key, $0.stored.url.absoluteString) }
            }.map(\.key)
        }
        let remembered = forgetNow()
        guard let folder else { return Set(remembered) }
        let stored = await folder.remove(where: isMeant)
        // Until then some may have come back from the disk.
        _ = forgetNow()
        return stored.union(remembered)
    }

    private func beginForgetting(_ isMeant: (SourceFetch) -> Bool) {
        let fetches = underWay.withLock { underWay in
            let meant = underWay.filter(isMeant)
            underWay.subtract(meant)
            return meant
        }
        for fetch in fetches { onForgetting(fetch) }
    }
}
