import Foundation
import HalcyonCluster
import HalcyonTestKit
import HalcyonWork
import NIOCore

/// What nodes share through Redis, in this process and by a clock that is moved by hand.
final class MemoryLeaseStore: LeaseStore {
    /// What nodes were told.
    let messages = Recorder<String>()
    /// What came of each attempt to renew a lease.
    let renewals = Recorder<Bool>()
    private let time: TimeSource
    private let state = Locked(State())
    private let listeners = Listeners()

    init(_ time: TimeSource) { self.time = time }

    func setReachable(_ isReachable: Bool) { state.withLock { $0.isReachable = isReachable } }

    func record(
        _ name: String, marks: [String]
    ) async throws(EngineError) -> Marked<SharedRecord?> {
        try ask { Marked($0.records[name]?.value, mark: $0.latest(of: marks)) }
    }

    func acquire(
        _ name: String, token: String, for duration: Duration, after generation: Int64,
        marks: [String]
    ) async throws(EngineError) -> Marked<Acquisition> {
        try ask { state in
            let acquisition = state.acquire(name, token, for: duration, after: generation)
            return Marked(acquisition, mark: state.latest(of: marks))
        }
    }

    func renew(
        _ name: String, token: String, for duration: Duration
    ) async throws(EngineError) -> Bool {
        let isRenewed = try ask { state in
            guard state.leases[name]?.value == token else { return false }
            state.leases[name] = state.kept(token, for: duration)
            return true
        }
        renewals.record(isRenewed)
        return isRenewed
    }

    func release(_ name: String, token: String) async throws(EngineError) {
        if try ask({ $0.endLease(name, token) }) == .awaited { listeners.wake(name) }
    }

    func publish(
        _ record: SharedRecord, as name: String, token: String, lifetime: Duration
    ) async throws(EngineError) -> Bool {
        let (end, isNewer) = try ask { state in
            let end = state.endLease(name, token)
            let known = state.records[name]?.value.generation ?? 0
            guard end != .notHeld, known < record.generation else { return (end, false) }
            state.records[name] = state.kept(record, for: lifetime)
            return (end, true)
        }
        if end == .awaited { listeners.wake(name) }
        return isNewer
    }

    func amend(
        _ record: SharedRecord, of name: String, lifetime: Duration
    ) async throws(EngineError) -> Bool {
        try ask { state in
            guard state.records[name]?.value.generation == record.generation else { return false }
            state.records[name] = state.kept(record, for: lifetime)
            return true
        }
    }

    func forget(
        _ names: [String], marking marks: [String], telling message: ByteBuffer
    ) async throws(EngineError) {
        try ask { state in
            for mark in marks { state.marks[mark] = state.microseconds }
            for name in names { (state.leases[name], state.records[name]) = (nil, nil) }
        }
        messages.record(String(buffer: message))
    }

    func tell(_ message: ByteBuffer, of topic: Topic) async throws(EngineError) {
        try ask { _ in }
        messages.record(String(buffer: message))
    }

    func news(of name: String) -> News { listeners.news(of: name) }

    let hearsNews = true
    let breakerState = CircuitBreaker.State.closed

    private func ask<Answer: Sendable>(
        _ question: (inout State) -> Answer
    ) throws(EngineError) -> Answer {
        let (now, date) = (time.now, time.date)
        let answer: Answer? = state.withLock { state in
            guard state.isReachable else { return nil }
            state.advance(to: now, date)
            return question(&state)
        }
        guard let answer else { throw EngineError("the store cannot be reached") }
        return answer
    }
}

extension MemoryLeaseStore {
    fileprivate struct State: Sendable {
        /// Something that goes by itself.
        struct Kept<Value: Sendable>: Sendable {
            let value: Value
            let end: ContinuousClock.Instant
        }

        enum LeaseEnd: Sendable { case notHeld, unnoticed, awaited }

        var isReachable = true
        var leases: [String: Kept<String>] = [:]
        /// The names whose leases somebody waits for.
        var awaited: Set<String> = []
        var records: [String: Kept<SharedRecord>] = [:]
        var marks: [String: Int64] = [:]
        /// Another one for each question, as the clock of a server has it.
        private(set) var microseconds: Int64 = 0
        private var now = ContinuousClock.now

        mutating func advance(to now: ContinuousClock.Instant, _ date: Date) {
            self.now = now
            microseconds = max(microseconds + 1, Int64(date.timeIntervalSince1970 * 1_000_000))
            leases = leases.filter { $0.value.end > now }
            records = records.filter { $0.value.end > now }
        }

        func kept<Value: Sendable>(_ value: Value, for duration: Duration) -> Kept<Value> {
            Kept(value: value, end: now + duration)
        }

        func latest(of names: [String]) -> Int64 { names.compactMap { marks[$0] }.max() ?? 0 }

        mutating func acquire(
            _ name: String, _ token: String, for duration: Duration, after generation: Int64
        ) -> Acquisition {
            let record = records[name]?.value
            if let record, record.generation > generation { return .published(record) }
            if let lease = leases[name], lease.value != token {
                awaited.insert(name)
                return .held(for: lease.end - now)
            }
            leases[name] = kept(token, for: duration)
            let last = max(record?.generation ?? 0, generation)
            return .acquired(generation: max(microseconds, last + 1))
        }

        mutating func endLease(_ name: String, _ token: String) -> LeaseEnd {
            guard leases[name]?.value == token else { return .notHeld }
            leases[name] = nil
            return awaited.remove(name) == nil ? .unnoticed : .awaited
        }
    }
}
