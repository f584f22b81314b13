import Foundation
package import HalcyonWork

/// A clock that only a test advances.
public final class ManualClock: Clock, Sendable {
    /// A time of the clock.
    public struct Instant: InstantProtocol {
        /// The time since the start of the clock.
        public var offset: Duration

        public init(offset: Duration = .zero) {
            self.offset = offset
        }

        public func advanced(by duration: Duration) -> Instant {
            Instant(offset: offset + duration)
        }

        public func duration(to other: Instant) -> Duration {
            other.offset - offset
        }

        public static func < (lhs: Instant, rhs: Instant) -> Bool {
            lhs.offset < rhs.offset
        }
    }

    private let state = Observed(SleepSchedule())

    /// A clock at time zero.
    public init() {}

    public var now: Instant { state.value.now }

    public var minimumResolution: Duration { .nanoseconds(1) }

    /// The number of tasks that sleep on this clock.
    public var sleeperCount: Int { state.value.sleepers.count }

    /// The deadline of the next sleeper; `nil` without sleepers.
    public var nextDeadline: Instant? { state.value.sleepers.first?.deadline }

    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        try Task.checkCancellation()
        let id = state.update { $0.makeIdentifier() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                // An earlier cancellation found no sleeper to remove, so it is checked here.
                let outcome = state.update { schedule -> Result<Void, any Error>? in
                    if Task.isCancelled { return .failure(CancellationError()) }
                    if deadline <= schedule.now { return .success(()) }
                    schedule.add(Sleeper(id: id, deadline: deadline, continuation: continuation))
                    return nil
                }
                if let outcome { continuation.resume(with: outcome) }
            }
        } onCancel: {
            state.update { $0.remove(id) }?.continuation.resume(throwing: CancellationError())
        }
    }

    /// Advances the time and wakes the sleepers that are due, in the order of their deadlines, then
    /// of falling asleep.
    public func advance(by duration: Duration) {
        for sleeper in state.update({ $0.advance(by: duration) }) {
            sleeper.continuation.resume()
        }
    }

    /// Advances the time to the next deadline and wakes its sleepers.
    ///
    /// - Returns: The duration of the step; `nil` without sleepers.
    @discardableResult
    public func advanceToNextDeadline() -> Duration? {
        let (step, due) = state.update { schedule -> (Duration?, [Sleeper]) in
            guard let next = schedule.sleepers.first?.deadline else { return (nil, []) }
            let step = schedule.now.duration(to: next)
            return (step, schedule.advance(by: step))
        }
        for sleeper in due { sleeper.continuation.resume() }
        return step
    }

    /// Waits until at least `count` tasks sleep on this clock; returns at once when cancelled.
    public func waitForSleepers(_ count: Int = 1) async {
        await state.wait { $0.sleepers.count >= count }
    }

    /// Waits until a task sleeps until `offset` after the start of the clock; returns at once when cancelled.
    package func waitForSleeper(until offset: Duration) async {
        await state.wait { $0.sleepers.contains { $0.deadline.offset == offset } }
    }
}

struct Sleeper: Sendable {
    var id: Int
    var deadline: ManualClock.Instant
    var continuation: CheckedContinuation<Void, any Error>
}

/// The time of a manual clock and its sleepers, the next to wake first.
struct SleepSchedule: Sendable {
    private(set) var now = ManualClock.Instant()
    private(set) var sleepers: [Sleeper] = []
    private var lastIdentifier = 0

    mutating func makeIdentifier() -> Int {
        lastIdentifier += 1
        return lastIdentifier
    }

    mutating func add(_ sleeper: Sleeper) {
        let index = sleepers.firstIndex { $0.deadline > sleeper.deadline } ?? sleepers.endIndex
        sleepers.insert(sleeper, at: index)
    }

    mutating func remove(_ id: Int) -> Sleeper? {
        sleepers.firstIndex { $0.id == id }.map { sleepers.remove(at: $0) }
    }

    /// Advances the time, and removes and returns the sleepers that are due.
    mutating func advance(by duration: Duration) -> [Sleeper] {
        now = now.advanced(by: duration)
        let due = Array(sleepers.prefix { $0.deadline <= now })
        sleepers.removeFirst(due.count)
        return due
    }
}

extension ManualClock {
    /// This clock as a `TimeSource`: its date, instants and sleeps follow the clock.
    package var time: TimeSource {
        TimeSource(
            now: { Self.start + self.now.offset }, date: { self.date },
            sleep: { try await self.sleep(until: Instant(offset: $0 - Self.start)) })
    }

    /// The instant that corresponds to time zero of the clock.
    private static let start = ContinuousClock.now
}
