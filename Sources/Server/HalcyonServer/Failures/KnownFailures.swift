import HalcyonStorage
import HalcyonWork

/// Failures that would repeat, at most 10,000, each remembered for a while by a name for what has failed.
final class KnownFailures: Sendable {
    private let memory: MemoryStorage.Backend<KnownFailure>
    private let ttl: Duration
    private let time: TimeSource

    /// - Parameter ttl: How long a failure is remembered; none is for zero.
    init(for ttl: Duration, time: TimeSource) {
        self.ttl = ttl
        self.time = time
        var config = MemoryStorage.Config(totalCostLimit: 0)
        config.countLimit = 10_000
        memory = MemoryStorage.Backend(config: config, now: time.expirationDate)
    }

    /// The failure with this name a moment ago.
    subscript(name: String) -> Failure? {
        guard let known = memory.value(forKey: name, extendingExpiration: .none),
            // Also when the clock by which the store forgets has been set back.
            time.now < known.end
        else { return nil }
        return known.failure
    }

    /// Remembers a failure, if it is one that would repeat.
    func note(_ failure: Failure, for name: String) {
        guard failure.kind.caching == .negativeTTL, ttl > .zero else { return }
        var failure = failure
        failure.isRemembered = true
        memory.store(
            value: KnownFailure(failure: failure, end: time.now + ttl), forKey: name,
            expiration: .seconds(ttl.inSeconds))
    }

    func removeAll() { memory.removeAll() }

    /// Remembers a failure, unless its source is purged since it was looked for.
    func note(_ failure: Failure, for name: String, unless isPurged: () -> Bool) {
        guard !isPurged() else { return }
        note(failure, for: name)
        // Or meanwhile: then it may have come after the purge.
        if isPurged() { removeAll() }
    }
}

private struct KnownFailure: CacheCostCalculable {
    let failure: Failure
    let end: ContinuousClock.Instant
    var cacheCost: Int { 1 }
}
