import HalcyonServerURLs
import HalcyonWork
import Synchronization

/// Limits the number of concurrent tasks; a limited number of others wait in line.
///
/// Not a `WorkTable`: the tasks differ; equal ones are shared by ``SharedTasks`` before they enter.
final class Gate: Sendable {
    final class Place: Sendable {
        let hasWaited: Bool
        fileprivate let group: String
        fileprivate let kind: String
        fileprivate let start: ContinuousClock.Instant
        fileprivate let isGivenBack = Atomic(false)

        fileprivate init(
            hasWaited: Bool, group: String, kind: String, start: ContinuousClock.Instant
        ) {
            self.hasWaited = hasWaited
            self.group = group
            self.kind = kind
            self.start = start
        }
    }

    struct Usage: Sendable {
        var passing: Int
        var waiting: Int
        var limit: Int
        /// The number of requests for a place so far.
        var entered: Int

        var isBusy: Bool { waiting > 0 || passing >= limit }
    }

    private struct State {
        var admission: Admission
        var nextID = 0
        /// The waiters by id; given `true` to pass, `false` to give up.
        var waiting: [Int: OneShot<Bool>] = [:]
        /// The mean time that places are held, in seconds, weighted towards the latest.
        var meanHold = 0.1
        /// The mean times by kind of work, likewise.
        var meanHolds: [String: Double] = [:]

        var usage: Usage {
            Usage(
                passing: admission.passingCount, waiting: admission.waitingCount,
                limit: admission.width, entered: nextID)
        }

        var secondsUntilFree: Int {
            let seconds =
                Double(admission.waitingCount + 1) * meanHold / Double(max(1, admission.width))
            return Int(min(30, max(1, seconds.rounded(.up))))
        }
    }

    let name: String
    private let time: TimeSource
    private let state: Observed<State>

    init(_ name: String, _ admission: Admission, time: TimeSource) {
        self.name = name
        self.time = time
        state = Observed(State(admission: admission))
    }

    var usage: Usage { state.read { $0.usage } }

    func wait(until isReached: @Sendable (Usage) -> Bool) async {
        await state.wait { isReached($0.usage) }
    }

    /// Returns the expected time that work of a kind holds a place; zero as long as none has.
    func expectedHold(of kind: String) -> Duration {
        state.read { .seconds($0.meanHolds[kind] ?? 0) }
    }

    /// The estimated seconds until all waiters have had their turn; 1…30.
    var secondsUntilFree: Int { state.read { $0.secondsUntilFree } }

    /// Takes a place, after waiting for it if need be.
    /// - Parameters:
    ///   - kind: The kind of work, one of a few: some take longer than others.
    ///   - deadline: The time after which the place is useless; the earliest deadline goes first.
    /// - Throws: `Failure`: `busy` when too many wait, `clientGone` when the task was cancelled.
    func enter(
        group: String = "", kind: String = "", by deadline: ContinuousClock.Instant? = nil
    ) async throws(Failure) -> Place {
        let turn = OneShot<Bool>()
        let (id, entry, retryAfter) = state.update { state in
            state.nextID += 1
            let id = state.nextID
            let entry = state.admission.enter(id, group: group, deadline: deadline)
            if entry == .wait { state.waiting[id] = turn }
            return (id, entry, state.secondsUntilFree)
        }
        switch entry {
        case .pass: break
        case .full:
            throw Failure(.busy, "Too many requests wait", retryAfter: retryAfter)
        case .wait:
            let isPassing = await withTaskCancellationHandler {
                await turn.value
            } onCancel: {
                abandon(id)
            }
            guard isPassing else { throw Failure(.clientGone, "nobody waits any longer") }
        }
        return Place(hasWaited: entry == .wait, group: group, kind: kind, start: time.now)
    }

    /// Gives a place back, unless that has been done.
    func leave(_ place: Place) {
        guard !place.isGivenBack.exchange(true, ordering: .relaxed) else { return }
        noteHold(time.now - place.start, of: place.kind)
        let next = state.update { state in
            state.admission.leave(group: place.group).flatMap {
                state.waiting.removeValue(forKey: $0)
            }
        }
        next?.give(true)
    }

    func noteHold(_ duration: Duration, of kind: String = "") {
        let seconds = duration.inSeconds
        state.update { state in
            state.meanHold += (seconds - state.meanHold) / 16
            let mean = state.meanHolds[kind] ?? seconds
            state.meanHolds[kind] = mean + (seconds - mean) / 16
        }
    }

    private func abandon(_ id: Int) {
        let turn = state.update { state in
            state.admission.abandon(id) ? state.waiting.removeValue(forKey: id) : nil
        }
        turn?.give(false)
    }
}
