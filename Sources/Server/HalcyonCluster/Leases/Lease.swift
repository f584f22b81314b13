import HalcyonWork
import Synchronization

/// A lease of one piece of work, which is renewed as long as that goes on.
final class Lease: Sendable {
    private enum State {
        case none
        case kept
        case lost
        case ended
    }

    let name: String
    let token = "\(UInt64.random(in: 0...UInt64.max))-\(UInt64.random(in: 0...UInt64.max))"
    private let keeper: LeaseKeeper
    private let state = Mutex(State.none)

    init(_ name: String, _ keeper: LeaseKeeper) {
        self.name = name
        self.keeper = keeper
    }

    var isLost: Bool { state.withLock { $0 == .lost } }

    func keep() {
        state.withLock { $0 = .kept }
        keeper.keep(self)
    }

    /// Has it last for the whole of its time from now on.
    fileprivate func renew() async {
        do throws(EngineError) {
            if try await isRenewed() { return }
            state.withLock { if $0 == .kept { $0 = .lost } }
            keeper.end(self)
        } catch {
            // Perhaps it is still held; who publishes is asked for the token.
        }
    }

    /// Whether it was still held, and lasts for the whole of its time from now on.
    func isRenewed() async throws(EngineError) -> Bool {
        try await keeper.store.renew(name, token: token, for: keeper.duration)
    }

    func end() {
        let isKept = state.withLock { state in
            guard state == .kept else { return false }
            state = .ended
            return true
        }
        if isKept { keeper.end(self) }
    }

    func release() {
        end()
        Task { [keeper, name, token] in
            // Otherwise it ends by itself.
            try? await keeper.store.release(name, token: token)
        }
    }
}

/// Renews the leases of a node. Most work is over long before that is needed, so that one timer looks after all
/// of them; it stops when there are none.
final class LeaseKeeper: Sendable {
    private struct State {
        var kept: [ObjectIdentifier: (lease: Lease, due: ContinuousClock.Instant)] = [:]
        var isLooking = false
    }

    let store: any LeaseStore
    let duration: Duration
    private let time: TimeSource
    private let state = Mutex(State())

    init(_ store: any LeaseStore, _ duration: Duration, _ time: TimeSource) {
        self.store = store
        self.duration = duration
        self.time = time
    }

    /// Renews a lease, which has just been taken, three times as often as needed.
    func keep(_ lease: Lease) {
        let mustLook = state.withLock { state in
            state.kept[ObjectIdentifier(lease)] = (lease, time.now + duration * 2 / 9)
            defer { state.isLooking = true }
            return !state.isLooking
        }
        if mustLook { Task { await look() } }
    }

    func end(_ lease: Lease) { state.withLock { $0.kept[ObjectIdentifier(lease)] = nil } }

    private func look() async {
        while true {
            // Nobody cancels this task.
            try? await time.sleep(for: duration / 9)
            guard let due = leasesDue(at: time.now) else { return }
            for lease in due { Task { await lease.renew() } }
        }
    }

    /// The leases to renew at `now`; `nil` when there are none at all, which ends the task.
    private func leasesDue(at now: ContinuousClock.Instant) -> [Lease]? {
        state.withLock { state in
            guard !state.kept.isEmpty else {
                state.isLooking = false
                return nil
            }
            var due: [Lease] = []
            for (id, entry) in state.kept where entry.due <= now {
                state.kept[id]?.due = now + duration * 2 / 9
                due.append(entry.lease)
            }
            return due
        }
    }
}
