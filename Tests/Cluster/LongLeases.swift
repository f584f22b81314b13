import HalcyonCluster
import HalcyonTestKit
import NIOCore

/// Leases that last longer than whoever takes them thinks, and longer still when they are renewed: no machine is so
/// busy that they end meanwhile.
struct LongLeases: LeaseStore {
    static let atFirst = Duration.seconds(600)
    static let renewed = Duration.seconds(1200)

    let store: RedisLeaseStore
    /// What has come of each attempt to renew one.
    let renewals = Recorder<Bool>()

    func acquire(
        _ name: String, token: String, for duration: Duration, after generation: Int64,
        marks: [String]
    ) async throws(EngineError) -> Marked<Acquisition> {
        try await store.acquire(
            name, token: token, for: Self.atFirst, after: generation, marks: marks)
    }

    func renew(
        _ name: String, token: String, for duration: Duration
    ) async throws(EngineError) -> Bool {
        let isRenewed = try await store.renew(name, token: token, for: Self.renewed)
        renewals.record(isRenewed)
        return isRenewed
    }

    func record(
        _ name: String, marks: [String]
    ) async throws(EngineError) -> Marked<SharedRecord?> {
        try await store.record(name, marks: marks)
    }

    func release(_ name: String, token: String) async throws(EngineError) {
        try await store.release(name, token: token)
    }

    func publish(
        _ record: SharedRecord, as name: String, token: String, lifetime: Duration
    ) async throws(EngineError) -> Bool {
        try await store.publish(record, as: name, token: token, lifetime: lifetime)
    }

    func amend(
        _ record: SharedRecord, of name: String, lifetime: Duration
    ) async throws(EngineError) -> Bool {
        try await store.amend(record, of: name, lifetime: lifetime)
    }

    func forget(
        _ names: [String], marking marks: [String], telling message: ByteBuffer
    ) async throws(EngineError) {
        try await store.forget(names, marking: marks, telling: message)
    }

    func tell(_ message: ByteBuffer, of topic: Topic) async throws(EngineError) {
        try await store.tell(message, of: topic)
    }

    func news(of name: String) -> News { store.news(of: name) }

    var hearsNews: Bool { store.hearsNews }
    var breakerState: CircuitBreaker.State { store.breakerState }
}
