import HalcyonWork
import Synchronization

/// Whether a server accepts requests, and those under way.
final class ServerState: Sendable {
    enum Phase: String, Sendable {
        case starting, ready, draining
    }

    private let current = Observed(Phase.starting)
    private let requests = Mutex((next: 0, endings: [Int: Ending]()))
    private let inFlight: Counter

    /// - Parameter inFlight: Counts the requests under way.
    init(inFlight: Counter) { self.inFlight = inFlight }

    var phase: Phase { current.value }

    func enter(_ phase: Phase) { current.update { $0 = phase } }

    func wait(until wanted: Phase) async { await current.wait { $0 == wanted } }

    /// Does the work of a request, which can be ended with all others meanwhile.
    func underWay<Value>(_ request: ServerRequest, _ work: () async -> Value) async -> Value {
        let number = requests.withLock { requests in
            requests.next += 1
            requests.endings[requests.next] = request.ending
            return requests.next
        }
        inFlight.add()
        defer {
            _ = requests.withLock { $0.endings.removeValue(forKey: number) }
            inFlight.add([], -1)
            // Releases what waits for the end of this request, and the pictures held by that.
            request.ending.give(.clientGone)
        }
        return await work()
    }

    /// Ends all requests under way with 503.
    func endAllRequests() {
        for ending in requests.withLock({ Array($0.endings.values) }) { ending.give(.draining) }
    }

    var requestCount: Int { requests.withLock { $0.endings.count } }
}
