import HalcyonServerURLs
import HalcyonWork
import Synchronization

/// Lets only so many tasks do something at a time; a limited number of others wait in line.
final class Gate: Sendable {
    /// A place that was taken, to be given back.
    final class Place: Sendable {
        /// Whether others had to leave first.
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
        /// How often somebody has asked for a place.
        var entered: Int
    }

    fileprivate struct State {
        var admission: Admission
        var nextID = 0
        /// Who waits is told whether he passes.
        var waiting: [Int: OneShot<Bool>] = [:]
        /// How long places were held, the latest counting most; seconds.
        var meanHold = 0.1
        /// The same of those of a kind.
        var meanHolds: [String: Double] = [:]
        var change = NextChange()
    }

    let name: String
    private let time: TimeSource
    private let state: Mutex<State>

    init(_ name: String, _ admission: Admission, time: TimeSource) {
        self.name = name
        self.time = time
        state = Mutex(State(admission: admission))
    }

    /// What metrics tell.
    var usage: Usage { state.withLock { $0.usage } }

    /// Waits until its usage is as wanted.
    func until(_ isReached: (Usage) -> Bool) async {
        await NextChange.wait(for: isReached) {
            state.withLock { ($0.usage, $0.change.awaited()) }
        }
    }

    /// About how long a place will be held by somebody of a kind; nothing as long as nobody has held one.
    func expectedHold(of kind: String) -> Duration {
        state.withLock { .seconds($0.meanHolds[kind] ?? 0) }
    }

    /// About how many seconds it takes until all who wait have had their turn; 1…30.
    var secondsUntilFree: Int { state.withLock { $0.secondsUntilFree } }

    /// Takes a place, after waiting for it if need be.
    /// - Parameters:
    ///   - kind: What is done, of few kinds: some take longer than others.
    ///   - deadline: When the place is of no use any longer; who has less time goes first.
    /// - Throws: `Failure`: `busy` when too many wait, `clientGone` when the task was cancelled.
    func enter(
        group: String = "", kind: String = "", by deadline: ContinuousClock.Instant? = nil
    ) async throws(Failure) -> Place {
        let turn = OneShot<Bool>()
        let (id, entry, retryAfter, change) = state.withLock { state in
            state.nextID += 1
            let id = state.nextID
            let entry = state.admission.enter(id, group: group, deadline: deadline)
            if entry == .wait { state.waiting[id] = turn }
            return (id, entry, state.secondsUntilFree, state.change.taken())
        }
        change?.give(())
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
        let (next, change) = state.withLock { state in
            let next = state.admission.leave(group: place.group).flatMap {
                state.waiting.removeValue(forKey: $0)
            }
            return (next, state.change.taken())
        }
        next?.give(true)
        change?.give(())
    }

    /// Takes note of how long somebody has held a place.
    func noteHold(_ duration: Duration, of kind: String = "") {
        let seconds = duration.inSeconds
        state.withLock { state in
            state.meanHold += (seconds - state.meanHold) / 16
            let mean = state.meanHolds[kind] ?? seconds
            state.meanHolds[kind] = mean + (seconds - mean) / 16
        }
    }

    private func abandon(_ id: Int) {
        let (turn, change) = state.withLock { state in
            let turn = state.admission.abandon(id) ? state.waiting.removeValue(forKey: id) : nil
            return (turn, state.change.taken())
        }
        turn?.give(false)
        change?.give(())
    }
}

extension Gate.State {
    fileprivate var usage: Gate.Usage {
        Gate.Usage(
            passing: admission.passingCount, waiting: admission.waitingCount,
            limit: admission.width, entered: nextID)
    }

    fileprivate var secondsUntilFree: Int {
        let seconds =
            Double(admission.waitingCount + 1) * meanHold / Double(max(1, admission.width))
        return Int(min(30, max(1, seconds.rounded(.up))))
    }
}
