import Foundation
import HalcyonCluster
import HalcyonServerURLs
import HalcyonWork
import Logging
import NIOCore
import NIOFoundationCompat

/// The other servers, as far as they share something with this one: what one of them has fetched or
/// made, the others need not.
///
/// Through Redis they know of each other's work and share small objects, through the store of bytes
/// also large ones. Either is useful alone: without the store, each server makes large objects
/// itself; without Redis, each fetches sources itself, and what several want at the same moment is
/// made several times.
final class Cluster: Sendable {
    /// `nil` without Redis.
    let work: LeasedWork?
    private let leases: (any LeaseStore)?
    /// `nil` without a store of bytes.
    private let store: S3Store?
    let settings: ImageServerConfiguration.Redis
    private let negativeTTL: Duration
    private let metrics: ServerMetrics
    /// Begins this server's purge messages, by which it skips its own.
    private let sender: String

    /// Whether results outlive Redis and the servers.
    var hasStore: Bool { store != nil }

    /// `nil` when nothing is shared.
    ///
    /// - Parameters:
    ///   - logger: Told of engines that are paused after failures.
    ///   - onForgotten: Called with another server's purge, and with `done` to call once that is
    ///     carried out; it returns when a restart would not repeat the purge.
    ///   - onPause: Called with a server that has asked for a pause, and the end of the pause.
    init?(
        _ configuration: ImageServerConfiguration, metrics: ServerMetrics, logger: Logger,
        time: TimeSource,
        onForgotten:
            @escaping @Sendable (Purge, _ done: @escaping @Sendable () async -> Void) -> Void,
        onPause: @escaping @Sendable (_ origin: String, _ end: Date) -> Void
    ) {
        let limits = configuration.limits
        let redis = configuration.shared.redis
        store = configuration.shared.s3.store(
            maximumBytes: max(limits.maxSourceBytes, limits.maxResultBytes), time: time
        ) { error in
            logger.warning(
                "The store of bytes is not asked for a while",
                metadata: ["cause": "\(error.reason)"])
        }
        if store == nil, redis.address == nil { return nil }
        settings = redis
        negativeTTL = configuration.cache.negativeTTL
        self.metrics = metrics
        let sender = UUID().uuidString
        self.sender = sender
        let leases = RedisSettings(redis).map { settings in
            // The number is the version of the shared format.
            let prefix = "\(redis.prefix):2"
            let heard = HeardPurges(
                in: configuration.cacheDirectory,
                log: "\(settings.address) \(settings.database) \(prefix)")
            return RedisLeaseStore(
                settings, prefix: prefix, after: heard.last.map { [.forgotten: $0] } ?? [:],
                time: time,
                onPause: { error in
                    logger.warning(
                        "Redis is not asked for a while", metadata: ["cause": "\(error.reason)"])
                },
                onMessage: { topic, message in
                    let words = String(buffer: message.content).split(separator: " ")
                    switch topic {
                    case .forgotten:
                        heard.begin(message.place)
                        guard words.count == 2, words[0] != sender,
                            let purge = Purge(message: String(words[1]))
                        else {
                            Task { await heard.end(message.place) }
                            return
                        }
                        onForgotten(purge) { await heard.end(message.place) }
                    case .pauses:
                        guard words.count == 2, let end = TimeInterval(words[1]), end.isFinite
                        else { return }
                        onPause(String(words[0]), Date(timeIntervalSince1970: end))
                    }
                })
        }
        self.leases = leases
        work = leases.map { leases in
            LeasedWork(leases, duration: redis.lease, time: time) {
                metrics.leases.add([$0.rawValue])
            }
        }
    }

    /// Returns the publication of an object: its bytes or, if it is large, its place.
    ///
    /// - Parameters:
    ///   - isStored: Whether it is in the store of bytes already.
    ///   - isLasting: Whether it is to outlive what Redis knows, however small it is.
    ///   - replacing: Whether an object of the same name in the store may be too old to be used.
    ///   - name: Returns the object's name in the store.
    func publication(
        of object: SharedObject, head: Data, isStored: Bool = false, isLasting: Bool = false,
        replacing: Bool = false,
        as name: @escaping @Sendable (_ generation: Int64) -> String
    ) -> LeasedWork.Publication {
        @Sendable func stored(_ generation: Int64) async -> Bool {
            if isStored { return true }
            var object = object
            object.generation = generation
            return await store(object, as: name(generation), replacing: replacing)
        }
        if object.body.count <= settings.maxBytes {
            @Sendable func keep(_ generation: Int64) async { _ = await stored(generation) }
            return publication(
                of: .bytes(head: head, ByteBuffer(data: object.body)),
                afterwards: isLasting && !isStored ? keep : nil)
        }
        guard store != nil else { return Self.elsewhere }
        return LeasedWork.Publication(
            lifetime: settings.maxAge, leavesSomething: !isStored
        ) { generation in
            guard await stored(generation) else { return SharedContent.elsewhere.buffer }
            return SharedContent.object(head: head, name: name(generation)).buffer
        }
    }

    func publication(
        of content: SharedContent, afterwards: (@Sendable (Int64) async -> Void)? = nil
    ) -> LeasedWork.Publication {
        LeasedWork.Publication(lifetime: settings.maxAge, afterwards: afterwards) { _ in
            content.buffer
        }
    }

    /// Returns the publication of a failure; `nil` when others have to try for themselves.
    ///
    /// - Parameter key: The key of the picture that failed; `nil` for a source.
    func publication(of failure: Failure, at key: String? = nil) -> LeasedWork.Publication? {
        switch failure.kind {
        case .clientGone, .busy, .deadline, .draining, .internalError: return nil
        default: break
        }
        guard failure.kind.caching == .negativeTTL, negativeTTL > .zero,
            // Others may reach it, and may be allowed more.
            !failure.isOfThisServer, failure.kind != .sourceTooLarge
        else { return Self.elsewhere }
        return LeasedWork.Publication(lifetime: negativeTTL) { _ in
            SharedContent.failure(failure, of: key).buffer
        }
    }

    /// Lets all waiters go on by themselves at once.
    static let elsewhere = LeasedWork.Publication(lifetime: .seconds(1)) { _ in
        SharedContent.elsewhere.buffer
    }

    /// Returns an object; `.missing` also when the store cannot be asked.
    func object(_ name: String) async -> StoredObject {
        guard let store else { return .missing }
        do throws(EngineError) {
            let found = try await store.object(name)
            let result =
                switch found {
                case .whole: "hit"
                case .damaged: "damaged"
                case .missing: "miss"
                }
            metrics.objects.add(["get", result])
            return found
        } catch {
            metrics.objects.add(["get", "error"])
            return .missing
        }
    }

    @discardableResult
    func store(_ object: SharedObject, as name: String, replacing: Bool = false) async -> Bool {
        guard let store else { return false }
        do throws(EngineError) {
            let isNew = try await store.store(object, as: name, replacing: replacing)
            metrics.objects.add(["put", isNew ? "stored" : "there"])
            return true
        } catch {
            metrics.objects.add(["put", "error"])
            return false
        }
    }

    func removeObjects(ofPictures keys: [String]) async {
        guard let store else { return }
        await withTaskGroup(of: Void.self) { group in
            for (number, key) in keys.enumerated() {
                if number >= 8 { _ = await group.next() }
                group.addTask { [metrics] in
                    do throws(EngineError) {
                        try await store.remove(Self.name(ofPicture: key))
                        metrics.objects.add(["remove", "removed"])
                    } catch {
                        metrics.objects.add(["remove", "error"])
                    }
                }
            }
        }
    }

    /// Tells all servers of one that has asked for a pause.
    func tellPause(of origin: String, until end: Date) {
        guard let leases else { return }
        Task {
            // A server that has not heard of it learns it from the origin itself.
            try? await leases.tell(
                ByteBuffer(string: "\(origin) \(end.timeIntervalSince1970)"), of: .pauses)
        }
    }

    /// Makes all servers ignore shared entries from before now that a purge concerns, and purge
    /// their own caches; returns whether they were told. The keys are those known here.
    func forget(_ purge: Purge, sources: Set<String>, pictures: [String]) async -> Bool {
        guard let leases else {
            // Nobody can be told what is too old: at least what is known here goes.
            await removeObjects(ofPictures: pictures)
            return false
        }
        // Pictures are told apart by marks alone.
        let names = sources.map(Self.name(ofSource:))
        // They take room, and would be there again if Redis lost its marks. A few go before anything is marked, so that
        // none is removed that another server has made since; to name many would take longer than others may wait.
        if pictures.count <= 100 {
            await removeObjects(ofPictures: pictures)
        } else {
            Task { await removeObjects(ofPictures: pictures) }
        }
        do throws(EngineError) {
            try await leases.forget(
                names, marking: PurgeMarks.names(of: purge),
                telling: ByteBuffer(string: "\(sender) \(purge.message)"))
            return true
        } catch {
            return false
        }
    }

    static func name(ofSource key: String) -> String { "s/\(key)" }

    static func name(ofPicture key: String) -> String { "r/\(key)" }

    /// The states of the circuit breakers, for metrics.
    var gauges: [Gauge] {
        let states = [("redis", leases?.breakerState), ("s3", store?.breakerState)]
        return states.flatMap { engine, current in
            current.map { current in
                CircuitBreaker.State.allCases.map { state in
                    Gauge(
                        "halcyon_shared_breaker", "Whether an engine is asked: 1 for its state.",
                        current == state ? 1 : 0, [("engine", engine), ("state", state.rawValue)])
                }
            } ?? []
        }
    }
}

extension RedisSettings {
    /// `nil` without an address.
    fileprivate init?(_ redis: ImageServerConfiguration.Redis) {
        switch redis.address {
        case .tcp(let host, let port): self.init(address: .tcp(host: host, port: port))
        case .unix(let path): self.init(address: .unix(path: path))
        case nil: return nil
        }
        user = redis.user
        password = redis.password
        database = redis.database
        timeout = redis.timeout
        usesTLS = redis.usesTLS
        tlsRoots = redis.tlsRoots
    }
}
