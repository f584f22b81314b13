import HalcyonWork
import Synchronization

/// Those who wait for news, by names.
package final class Listeners: Sendable {
    private struct State {
        var nextID = 0
        var waiting: [String: [Int: OneShot<Void>]] = [:]
    }

    private let state = Mutex(State())

    package init() {}

    package func news(of name: String) -> News {
        let arrival = OneShot<Void>()
        let id = state.withLock { state in
            state.nextID += 1
            state.waiting[name, default: [:]][state.nextID] = arrival
            return state.nextID
        }
        return News(arrival: arrival) { [self] in
            state.withLock { state in
                state.waiting[name]?[id] = nil
                if state.waiting[name]?.isEmpty == true { state.waiting[name] = nil }
            }
        }
    }

    package func wake(_ name: String) {
        let all = state.withLock { $0.waiting.removeValue(forKey: name) } ?? [:]
        for arrival in all.values { arrival.give(()) }
    }

    package func wakeAll() {
        let all = state.withLock { state in
            defer { state.waiting = [:] }
            return state.waiting.values.flatMap(\.values)
        }
        for arrival in all { arrival.give(()) }
    }
}
