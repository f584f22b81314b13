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
        case fetched
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
    /// The keys that are being asked for, and have not been forgotten meanwhile.
    private let underWay = Mutex<[String: UUID]>([:])
    /// How often something has been forgotten.
    private let forgotten = Mutex(0)
    /// `nil` when nothing is shared with other servers.
    private let cluster: Cluster?
    private let metrics: ServerMetrics

    private struct Found: Sendable {
        let source: RemoteSource
        let use: Use
        /// Whether it is kept, and so may be given to others.
        var isKept = false
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

    /// Finds a source: known and good, or asked for.
    ///
    /// - Returns: Also how it was had, and whether somebody else had asked for it.
    func find(
        _ url: URL, until ending: Ending
    ) async throws(Failure) -> (source: RemoteSource, use: Use, isShared: Bool) {
        let key = RemoteSource.key(of: url)
        if let known = failures.value(forKey: key, extendingExpiration: .none) {
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
                refreshInBackground(known, url)
                return (known, .hit(ttl: min(ttl, -1), detail: "stale"), false)
            case .validate, .fetch, .unsatisfiable:
                break
            }
        }
        metrics.noteCache("source", tier: known?.tier ?? "memory", known == nil ? "miss" : "stale")
        let (outcome, isShared) = await fetches.value(
            for: key, until: ending, onSharing: { metrics.noteCollapsed("source") }
        ) { stopped in
            await self.refreshed(url, key, known, until: stopped)
        }
        let found = try outcome.get()
        return (found.source, found.use, isShared)
    }

    /// The bytes of a source that was found; it is fetched again if they are lost by now, and may then be
    /// another one.
    func bytes(
        of source: RemoteSource, until ending: Ending
    ) async throws(Failure) -> (Data, RemoteSource) {
        if let body = source.body { return (body, source) }
        let seen = forgotten.withLock { $0 }
        if let body = await folder?.body(of: source) {
            let held = source.holding(body)
            forgotten.withLock { if $0 == seen { memory.store(value: held, forKey: source.key) } }
            return (body, held)
        }
        let url = source.stored.url
        let (outcome, _) = await fetches.value(for: source.key, until: ending) { stopped in
            await self.refreshed(url, source.key, nil, until: stopped)
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
    func forget(_ key: String) async {
        underWay.withLock { $0[key] = nil }
        forgotten.withLock {
            $0 += 1
            memory.remove(forKey: key)
        }
        failures.remove(forKey: key)
        await folder?.remove(key)
    }

    private func isStillWanted(_ key: String) -> Bool {
        underWay.withLock { $0[key] != nil }
    }

    private func refreshInBackground(_ known: RemoteSource, _ url: URL) {
        guard !fetches.isUnderWay(known.key) else { return }
        Task {
            _ = await fetches.value(for: known.key, until: Ending()) { stopped in
                await self.refreshed(url, known.key, known, until: stopped)
            }
        }
    }

    /// A source as it is now: as another server has it, or as its own server says.
    private func refreshed(
        _ url: URL, _ key: String, _ known: RemoteSource?, until stopped: Ending
    ) async -> Result<Found, Failure> {
        // Somebody may have been faster between the look and this.
        if let newer = memory.value(forKey: key), newer !== known, newer.body != nil,
            newer.stored.received >= known?.stored.received ?? .distantPast
        {
            return .success(Found(source: newer, use: .fetched))
        }
        // One whose clients have left may still be ending when the next one begins.
        let own = UUID()
        underWay.withLock { $0[key] = own }
        defer { underWay.withLock { if $0[key] == own { $0[key] = nil } } }
        guard let cluster else { return await asked(url, key, known) }
        let outcome = await cluster.source(
            key, until: stopped,
            accept: { await self.taken($0, url, key, known) },
            asking: {
                let found = await self.asked(url, key, known)
                return (found, await self.shared(found))
            })
        // What another server has failed at may be had here, though stale.
        if case .failure(let failure) = outcome { return failed(failure, key, known) }
        return outcome
    }

    /// Asks the server about a source.
    private func asked(
        _ url: URL, _ key: String, _ known: RemoteSource?
    ) async -> Result<Found, Failure> {
        do throws(Failure) {
            let place = try await gate.enter(group: url.host ?? "")
            let answer: OriginClient.Answer
            do throws(Failure) {
                answer = try await client.fetch(url, unless: known?.stored.condition)
                gate.leave(place)
            } catch {
                gate.leave(place)
                throw error
            }
            metrics.noteSourceResponse(answer.status)
            if answer.status == 304, let known {
                return await confirmed(known, answer, url)
            }
            return .success(await taken(answer, url, key))
        } catch {
            return failed(error, key, known)
        }
    }

    /// What is known, after its server has said that it is good.
    private func confirmed(
        _ known: RemoteSource, _ answer: OriginClient.Answer, _ url: URL
    ) async -> Result<Found, Failure> {
        let freshening = policy.freshen(
            known.stored, with: cleaned(answer.fields), for: HTTPCacheRequest(url: url),
            requested: answer.requested, received: answer.received)
        switch freshening {
        case .keep(let stored), .useOnce(let stored, _):
            let source = known.confirmed(stored)
            guard isStillWanted(known.key) else {
                return .success(Found(source: source, use: .validated))
            }
            memory.store(value: source, forKey: source.key)
            await folder?.freshen(source, freshUntil: policy.freshness(of: stored).freshUntil)
            return .success(Found(source: source, use: .validated, isKept: true))
        case .mismatch:
            // The server speaks of another picture: it is asked again without a condition.
            memory.remove(forKey: known.key)
            return await asked(url, known.key, nil)
        }
    }

    /// Keeps a new answer if that is allowed.
    private func taken(
        _ answer: OriginClient.Answer, _ url: URL, _ key: String
    ) async -> Found {
        var fields = cleaned(answer.fields)
        if !fields.contains("ETag"), !fields.contains("Last-Modified") {
            fields.append(RemoteSource.digestField, Digest.sha256.hexadecimal(answer.body))
        }
        let storing = policy.storing(
            HTTPCacheRequest(url: url), status: 200, fields: fields, requested: answer.requested,
            received: answer.received)
        let generation = Int64.random(in: 1...Int64.max)
        if case .store(let stored) = storing, stored.vary.isEmpty, isStillWanted(key) {
            let source = RemoteSource(
                key: key, stored: stored, generation: generation, size: answer.body.count,
                body: answer.body)
            memory.store(value: source, forKey: key)
            await folder?.put(
                source, answer.body, freshUntil: policy.freshness(of: stored).freshUntil)
            let isKept = await isStillKept(key)
            return Found(source: source, use: .fetched, isKept: isKept)
        }
        memory.remove(forKey: key)
        await folder?.remove(key)
        let once = StoredResponse(
            url: url, status: 200, fields: fields, requested: answer.requested,
            received: answer.received)
        let source = RemoteSource(
            key: key, stored: once, generation: generation, size: answer.body.count,
            body: answer.body)
        return Found(source: source, use: .fetched)
    }

    /// Keeps what another server has, if it is good and not older than what is known here.
    private func taken(
        _ shared: SharedSource, _ url: URL, _ key: String, _ known: RemoteSource?
    ) async -> Found? {
        let stored = shared.stored
        let decision = policy.decide(
            HTTPCacheRequest(url: url), with: .response(stored, index: 0), now: Date())
        guard case .use = decision, known.map({ stored.isAtLeastAsNew(as: $0.stored) }) ?? true,
            isStillWanted(key)
        else { return nil }
        metrics.noteCache("source", tier: "shared", "hit")
        let source = RemoteSource(
            key: key, stored: stored, generation: Int64.random(in: 1...Int64.max),
            size: shared.body.count, body: shared.body)
        memory.store(value: source, forKey: key)
        let freshUntil = policy.freshness(of: stored).freshUntil
        await folder?.put(source, shared.body, freshUntil: freshUntil)
        guard await isStillKept(key) else { return nil }
        let ttl = secondsLeft(stored, at: Date())
        return Found(source: source, use: .hit(ttl: ttl, detail: "shared"), isKept: true)
    }

    /// Whether a source that has just been stored was not forgotten meanwhile; then it goes again.
    private func isStillKept(_ key: String) async -> Bool {
        if isStillWanted(key) { return true }
        memory.remove(forKey: key)
        await folder?.remove(key)
        return false
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
        _ failure: Failure, _ key: String, _ known: RemoteSource?
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
        if failure.kind.caching == .negativeTTL, negativeTTL > .zero {
            failures.store(
                value: KnownFailure(failure), forKey: key,
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

    init(_ failure: Failure) { self.failure = failure }
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
