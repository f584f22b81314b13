import Foundation
import HalcyonHTTP
import HalcyonServerPlans
import HalcyonStorage
import HalcyonWork
import Synchronization

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

    private let client: OriginClient
    private let policy: HTTPCachePolicy
    /// Whether the servers' own words about caching count.
    private let passesCacheControl: Bool
    private let negativeTTL: Duration
    private let gate: Gate
    private let memory: MemoryStorage.Backend<RemoteSource>
    private let folder: SourceFolder?
    private let failures: MemoryStorage.Backend<KnownFailure>
    private let fetches = SharedTasks<String, Found>()
    /// What is being asked for, and has not been forgotten meanwhile.
    private let underWay = Mutex<Set<Fetch>>([])
    /// How often something has been forgotten.
    private let forgotten = Mutex(0)
    /// `nil` when nothing is shared with other servers.
    private let cluster: Cluster?
    private let metrics: ServerMetrics

    private struct Found: Sendable {
        let source: RemoteSource
        var use: Use
        /// Whether it is kept, and so may be given to others.
        var isKept = false
    }

    /// One look for a source at its server or at other servers.
    private struct Fetch: Hashable, Sendable {
        let url: URL
        let key: String
        /// Bytes that the source may have.
        let limit: Int
        private let id = UUID()

        static func == (one: Fetch, other: Fetch) -> Bool { one.id == other.id }
        func hash(into hasher: inout Hasher) { hasher.combine(id) }

        init(_ url: URL, _ key: String, limit: Int) {
            self.url = url
            self.key = key
            self.limit = limit
        }

        /// What fetches are shared by, and failures remembered.
        var name: String { Self.name(key, limit) }

        static func name(_ key: String, _ limit: Int) -> String { "\(key) \(limit)" }
    }

    init(
        _ configuration: ImageServerConfiguration, client: OriginClient, gate: Gate,
        folder: SourceFolder?, cluster: Cluster?, metrics: ServerMetrics
    ) {
        self.client = client
        self.gate = gate
        self.folder = folder
        self.cluster = cluster
        self.metrics = metrics
        passesCacheControl = configuration.http.passesCacheControl
        let cache = configuration.cache
        negativeTTL = cache.negativeTTL
        var caching = HTTPCaching.shared
        caching.negative = .off
        caching.staleWhileRevalidate = .upTo(cache.staleWhileRevalidate / .seconds(1))
        caching.staleIfError = .upTo(cache.staleIfError / .seconds(1))
        caching.staleWhenUnreachable = false
        if !passesCacheControl {
            caching.fixedLifetime = configuration.sources.freshness / .seconds(1)
        }
        policy = HTTPCachePolicy(caching) { Array(Digest.sha256.hexadecimal($0).utf8) }
        var config = MemoryStorage.Config(totalCostLimit: max(1, cache.sources.memoryBytes))
        config.expiration = .seconds(cache.sources.maxAge / .seconds(1))
        memory = MemoryStorage.Backend(config: config)
        var negative = MemoryStorage.Config(totalCostLimit: 0)
        negative.countLimit = 10_000
        failures = MemoryStorage.Backend(config: negative)
    }

    /// What is in memory, in bytes.
    var memoryBytes: Int { memory.totalCacheCost() }

    /// What is on the disk, in bytes.
    func diskBytes() async -> Int { await folder?.totalSize() ?? 0 }

    /// Sources on the disk, and their bytes.
    func diskUsage() async -> (entries: Int, bytes: Int) { await folder?.usage() ?? (0, 0) }

    /// Finds a source: known and good, or asked for.
    ///
    /// - Parameters:
    ///   - limit: Bytes that the source may have.
    ///   - visit: Begun before this.
    /// - Returns: Also how it was had, and whether somebody else had asked for it.
    func find(
        _ url: URL, limit: Int, during visit: PurgeVisit, until ending: Ending
    ) async throws(Failure) -> (source: RemoteSource, use: Use, isShared: Bool) {
        let found = try await found(url, limit, during: visit, until: ending)
        // For others it may have been more.
        guard found.source.size <= limit else {
            throw Failure(.sourceTooLarge, "The source has more than \(limit) bytes")
        }
        return found
    }

    private func found(
        _ url: URL, _ limit: Int, during visit: PurgeVisit, until ending: Ending
    ) async throws(Failure) -> (source: RemoteSource, use: Use, isShared: Bool) {
        let key = RemoteSource.key(of: url)
        let name = Fetch.name(key, limit)
        if let known = failures.value(forKey: name, extendingExpiration: .none) {
            metrics.noteCache("source", tier: "memory", "negative")
            throw known.failure
        }
        let request = HTTPCacheRequest(url: url)
        let known = await known(key)
        if let known {
            let now = Date()
            let decision = policy.decide(
                request, with: .response(known.stored, index: 0), now: now)
            let ttl = secondsLeft(known.stored, at: now)
            switch decision {
            case .use:
                metrics.noteCache("source", tier: known.tier, "hit")
                return (known, .hit(ttl: ttl, detail: known.tier), false)
            case .useStale:
                metrics.noteCache("source", tier: known.tier, "stale")
                refreshInBackground(known, Fetch(url, key, limit: limit), during: visit)
                return (known, .hit(ttl: min(ttl, -1), detail: "stale"), false)
            case .validate, .fetch, .unsatisfiable:
                break
            }
        }
        metrics.noteCache("source", tier: known?.tier ?? "memory", known == nil ? "miss" : "stale")
        let (outcome, isShared) = await fetches.value(
            for: name, until: ending, onSharing: { metrics.noteCollapsed("source") }
        ) { stopped in
            await self.refreshed(
                Fetch(url, key, limit: limit), known, during: visit, until: stopped)
        }
        let found = try outcome.get()
        return (found.source, found.use, isShared)
    }

    /// The bytes of a source that was found; it is fetched again if they are lost by now, and may then be
    /// another one.
    func bytes(
        of source: RemoteSource, limit: Int, until ending: Ending
    ) async throws(Failure) -> (Data, RemoteSource) {
        if let body = source.body { return (body, source) }
        let seen = forgotten.withLock { $0 }
        if let body = await folder?.body(of: source) {
            let held = source.holding(body)
            forgotten.withLock { if $0 == seen { memory.store(value: held, forKey: source.key) } }
            return (body, held)
        }
        let fetch = Fetch(source.stored.url, source.key, limit: limit)
        let (outcome, _) = await fetches.value(for: fetch.name, until: ending) { stopped in
            await self.refreshed(fetch, nil, during: nil, until: stopped)
        }
        let found = try outcome.get().source
        guard let body = found.body else {
            throw Failure(.internalError, "A source has been lost while it was fetched")
        }
        return (body, found)
    }

    private func known(_ key: String) async -> RemoteSource? {
        if let source = memory.value(forKey: key) { return source }
        let seen = forgotten.withLock { $0 }
        guard let source = await folder?.source(key) else { return nil }
        // What was forgotten while the disk was read does not come back.
        forgotten.withLock { if $0 == seen { memory.store(value: source, forKey: key) } }
        return source
    }

    /// Forgets a source, and what is being fetched of it now: those who wait get that, and nobody after
    /// them.
    ///
    /// - Returns: Whether it was known.
    @discardableResult
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

    private func beginForgetting(_ isMeant: (Fetch) -> Bool) {
        let fetches = underWay.withLock { underWay in
            let meant = underWay.filter(isMeant)
            underWay.subtract(meant)
            return meant
        }
        for fetch in fetches { self.fetches.separate(fetch.name) }
    }

    private func isStillWanted(_ fetch: Fetch) -> Bool {
        underWay.withLock { $0.contains(fetch) }
    }

    private func refreshInBackground(
        _ known: RemoteSource, _ fetch: Fetch, during visit: PurgeVisit
    ) {
        guard !fetches.isUnderWay(fetch.name) else { return }
        Task {
            _ = await fetches.value(for: fetch.name, until: Ending()) { stopped in
                await self.refreshed(fetch, known, during: visit, until: stopped)
            }
        }
    }

    /// A source as it is now: as another server has it, or as its own server says.
    private func refreshed(
        _ fetch: Fetch, _ known: RemoteSource?, during visit: PurgeVisit?, until stopped: Ending
    ) async -> Result<Found, Failure> {
        let key = fetch.key
        // Somebody may have been faster between the look and this.
        if let newer = memory.value(forKey: key), newer !== known, newer.body != nil,
            newer.stored.received >= known?.stored.received ?? .distantPast
        {
            return .success(Found(source: newer, use: .fetched))
        }
        underWay.withLock { _ = $0.insert(fetch) }
        defer { underWay.withLock { _ = $0.remove(fetch) } }
        // What is known may have been purged; what is purged from now on takes this fetch out of the set.
        let known = visit?.isUndisturbed == false ? nil : known
        guard let cluster else { return await asked(fetch, known) }
        let outcome = await cluster.source(
            key, url: fetch.url.absoluteString, until: stopped,
            accept: { await self.taken($0, fetch, known) },
            asking: {
                let found = await self.asked(fetch, known)
                return (found, await self.shared(found))
            })
        // What another server has failed at may be had here, though stale.
        if case .failure(let failure) = outcome { return failed(failure, fetch, known) }
        return outcome
    }

    /// Asks the server about a source.
    private func asked(
        _ fetch: Fetch, _ known: RemoteSource?
    ) async -> Result<Found, Failure> {
        do throws(Failure) {
            let place = try await gate.enter(group: fetch.url.host ?? "")
            let answer: OriginClient.Answer
            do throws(Failure) {
                answer = try await client.fetch(
                    fetch.url, maximumBytes: fetch.limit, unless: known?.stored.condition)
                gate.leave(place)
            } catch {
                gate.leave(place)
                throw error
            }
            metrics.noteSourceResponse(answer.status)
            if answer.status == 304, let known {
                return await confirmed(known, answer, fetch)
            }
            return .success(await taken(answer, fetch, known))
        } catch {
            return failed(error, fetch, known)
        }
    }

    /// What is known, after its server has said that it is good.
    private func confirmed(
        _ known: RemoteSource, _ answer: OriginClient.Answer, _ fetch: Fetch
    ) async -> Result<Found, Failure> {
        let freshening = policy.freshen(
            known.stored, with: cleaned(answer.fields), for: HTTPCacheRequest(url: fetch.url),
            requested: answer.requested, received: answer.received)
        switch freshening {
        case .keep(let stored), .useOnce(let stored, _):
            let source = known.confirmed(stored)
            guard remember(source, fetch) else {
                return .success(Found(source: source, use: .validated))
            }
            await folder?.freshen(source, freshUntil: policy.freshness(of: stored).freshUntil)
            return .success(Found(source: source, use: .validated, isKept: true))
        case .mismatch:
            // The server speaks of another picture: it is asked again without a condition.
            if isStillWanted(fetch) { memory.remove(forKey: known.key) }
            return await asked(fetch, nil).map { found in
                var found = found
                if found.use == .fetched { found.use = .replaced }
                return found
            }
        }
    }

    /// Keeps a new answer if that is allowed.
    private func taken(
        _ answer: OriginClient.Answer, _ fetch: Fetch, _ known: RemoteSource?
    ) async -> Found {
        let (url, key) = (fetch.url, fetch.key)
        let use = known == nil ? Use.fetched : .replaced
        if let known, isOutdated(answer, url, by: known), isStillWanted(fetch) {
            // The next one who asks may be answered by who knows better.
            return Found(source: known, use: .validated)
        }
        var fields = cleaned(answer.fields)
        if !fields.contains("ETag"), !fields.contains("Last-Modified") {
            fields.append(RemoteSource.digestField, Digest.sha256.hexadecimal(answer.body))
        }
        let storing = policy.storing(
            HTTPCacheRequest(url: url), status: 200, fields: fields, requested: answer.requested,
            received: answer.received)
        let generation = Int64.random(in: 1...Int64.max)
        if case .store(let stored) = storing, stored.vary.isEmpty {
            let source = RemoteSource(
                key: key, stored: stored, generation: generation, size: answer.body.count,
                body: answer.body)
            let isKept = await keep(source, answer.body, fetch)
            return Found(source: source, use: use, isKept: isKept)
        }
        // Another one may be there by now, after this has been forgotten.
        if isStillWanted(fetch) {
            memory.remove(forKey: key)
            await folder?.remove(key)
        }
        let once = StoredResponse(
            url: url, status: 200, fields: fields, requested: answer.requested,
            received: answer.received)
        let source = RemoteSource(
            key: key, stored: once, generation: generation, size: answer.body.count,
            body: answer.body)
        return Found(source: source, use: use)
    }

    /// Whether an answer out of a cache on the way is older than what is known. By its `Date`; that of other
    /// answers tells nothing, because clocks may have been set.
    private func isOutdated(
        _ answer: OriginClient.Answer, _ url: URL, by known: RemoteSource
    ) -> Bool {
        guard answer.fields.contains("Age") else { return false }
        let stored = StoredResponse(
            url: url, status: 200, fields: answer.fields, requested: answer.requested,
            received: answer.received)
        guard let date = stored.date, let knownDate = known.stored.date else { return false }
        return date < knownDate
    }

    /// Keeps what another server has, if it is good and not older than what is known here.
    private func taken(
        _ shared: SharedSource, _ fetch: Fetch, _ known: RemoteSource?
    ) async -> Found? {
        let (url, key) = (fetch.url, fetch.key)
        let stored = shared.stored
        let decision = policy.decide(
            HTTPCacheRequest(url: url), with: .response(stored, index: 0), now: Date())
        guard case .use = decision, known.map({ stored.isAtLeastAsNew(as: $0.stored) }) ?? true
        else { return nil }
        metrics.noteCache("source", tier: "shared", "hit")
        let source = RemoteSource(
            key: key, stored: stored, generation: Int64.random(in: 1...Int64.max),
            size: shared.body.count, body: shared.body)
        guard await keep(source, shared.body, fetch) else { return nil }
        let ttl = secondsLeft(stored, at: Date())
        return Found(source: source, use: .hit(ttl: ttl, detail: "shared"), isKept: true)
    }

    /// Keeps a source, unless it has been forgotten since it was asked for.
    ///
    /// - Returns: Whether it is kept.
    private func keep(_ source: RemoteSource, _ body: Data, _ fetch: Fetch) async -> Bool {
        guard remember(source, fetch) else { return false }
        await folder?.put(
            source, body, freshUntil: policy.freshness(of: source.stored).freshUntil
        ) { self.isStillWanted(fetch) }
        if isStillWanted(fetch) { return true }
        await folder?.remove(fetch.key)
        return false
    }

    private func remember(_ source: RemoteSource, _ fetch: Fetch) -> Bool {
        // Whoever forgets it takes it out of this set first, and then out of memory.
        underWay.withLock { underWay in
            guard underWay.contains(fetch) else { return false }
            memory.store(value: source, forKey: source.key)
            return true
        }
    }

    /// What other servers get of a source, and how long it is good for them.
    private func shared(
        _ found: Result<Found, Failure>
    ) async -> (source: SharedSource, lifetime: Duration)? {
        guard case .success(let found) = found, found.isKept else { return nil }
        let source = found.source
        var body = source.body
        if body == nil { body = await folder?.body(of: source) }
        guard let body else { return nil }
        let lifetime = Duration.seconds(secondsLeft(source.stored, at: Date()))
        guard lifetime > .zero else { return nil }
        return (SharedSource(stored: source.stored, body: body), lifetime)
    }

    /// What is known instead, if it may be used for a while; otherwise the failure, which is remembered.
    private func failed(
        _ failure: Failure, _ fetch: Fetch, _ known: RemoteSource?
    ) -> Result<Found, Failure> {
        if let known, let kind = failure.kind.asCacheFailure {
            let isGood = policy.usesStale(
                known.stored, for: HTTPCacheRequest(url: known.stored.url), after: kind, now: Date()
            )
            if isGood {
                let ttl = min(secondsLeft(known.stored, at: Date()), -1)
                return .success(
                    Found(source: known, use: .hit(ttl: ttl, detail: "stale-if-error")))
            }
        }
        // Not what was asked before somebody had it forgotten.
        if failure.kind.caching == .negativeTTL, negativeTTL > .zero, isStillWanted(fetch) {
            failures.store(
                value: KnownFailure(failure), forKey: fetch.name,
                expiration: .seconds(negativeTTL / .seconds(1)))
        }
        return .failure(failure)
    }

    /// How long an answer is fresh from now on, in whole seconds.
    private func secondsLeft(_ stored: StoredResponse, at now: Date) -> Int {
        let left = policy.freshness(of: stored).freshUntil.timeIntervalSince(now)
        return Int(min(max(left.rounded(.down), -1e9), 1e9))
    }

    /// Without what the operator has declared not to count.
    private func cleaned(_ fields: HTTPFields) -> HTTPFields {
        var fields = fields
        fields.remove([RemoteSource.digestField.lowercased(), "set-cookie"])
        if passesCacheControl {
            let names = fields.values("Vary").joined(separator: ",").lowercased()
            // What is asked for is never encoded, so that this makes no difference.
            if names == "accept-encoding" { fields.remove(["vary"]) }
        } else {
            fields.remove(["cache-control", "expires", "pragma", "vary"])
        }
        return fields
    }
}

/// A failure that is remembered for a while.
private final class KnownFailure: Sendable, CacheCostCalculable {
    let failure: Failure
    var cacheCost: Int { 1 }

    init(_ failure: Failure) {
        var failure = failure
        failure.isRemembered = true
        self.failure = failure
    }
}

extension RemoteSource {
    /// Where it was found.
    fileprivate var tier: String { body == nil ? "disk" : "memory" }
}

extension Failure.Kind {
    /// The same in the words of the rules of caching; `nil` for what is not the source's fault.
    fileprivate var asCacheFailure: CacheRequestFailure? {
        switch self {
        case .sourceTimeout, .sourceUnreachable, .sourceIncomplete: .noAnswer
        case .sourceStatus(let status) where status >= 500: .status(status)
        case .sourceBusy: .status(429)
        default: nil
        }
    }
}
