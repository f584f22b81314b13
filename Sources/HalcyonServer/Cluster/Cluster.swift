import Foundation
import HalcyonCluster
import HalcyonServerPlans
import HalcyonWork
import NIOCore

/// The other servers, as far as there is something that they share: what one of them has fetched or made, the
/// others need not.
final class Cluster: Sendable {
    let knowledge: RedisKnowledge
    let work: LeasedWork
    private let settings: ImageServerConfiguration.Redis
    private let negativeTTL: Duration

    /// `nil` when nothing is shared.
    init?(_ configuration: ImageServerConfiguration, metrics: ServerMetrics) {
        let redis = configuration.shared.redis
        guard let address = redis.address else { return nil }
        var settings = RedisSettings(address: RedisSettings.Address(address))
        settings.user = redis.user
        settings.password = redis.password
        settings.database = redis.database
        settings.timeout = redis.timeout
        self.settings = redis
        negativeTTL = configuration.cache.negativeTTL
        // The form of what is shared, which another version may change.
        knowledge = RedisKnowledge(
            settings, prefix: "\(redis.prefix):1", onMessage: { _ in }, onGap: {})
        work = LeasedWork(knowledge, duration: redis.lease) { event in
            metrics.leases.add([event.rawValue])
        }
    }

    /// What others get of bytes.
    ///
    /// - Parameter lifetime: How long they are good; no longer than the settings say.
    func publication(
        of body: ByteBuffer, head: Data = Data(), lifetime: Duration = .seconds(1 << 40)
    ) -> LeasedWork.Publication {
        guard body.readableBytes <= settings.maxBytes else { return Self.elsewhere }
        return LeasedWork.Publication(lifetime: min(lifetime, settings.maxAge)) { _ in
            SharedContent.bytes(head: head, body).buffer
        }
    }

    /// What others get of a failure; `nil` when they have to try for themselves.
    func publication(of failure: Failure) -> LeasedWork.Publication? {
        switch failure.kind {
        case .clientGone, .busy, .deadline, .draining, .internalError: return nil
        default: break
        }
        guard failure.kind.caching == .negativeTTL, negativeTTL > .zero else {
            return Self.elsewhere
        }
        return LeasedWork.Publication(lifetime: negativeTTL) { _ in
            SharedContent.failure(failure).buffer
        }
    }

    /// Has those who wait go on by themselves, all at once.
    static let elsewhere = LeasedWork.Publication(lifetime: .seconds(1)) { _ in
        SharedContent.elsewhere.buffer
    }

    /// What is told of it in metrics.
    var gauges: [Gauge] {
        CircuitBreaker.State.allCases.map { state in
            Gauge(
                name: "halcyon_shared_breaker", help: "Whether an engine is asked: 1 for its state.",
                labels: [("engine", "redis"), ("state", state.rawValue)],
                value: knowledge.breakerState == state ? 1 : 0)
        }
    }
}

extension RedisSettings.Address {
    init(_ address: ListenAddress) {
        self =
            switch address {
            case .tcp(let host, let port): .tcp(host: host, port: port)
            case .unix(let path): .unix(path: path)
            }
    }
}
