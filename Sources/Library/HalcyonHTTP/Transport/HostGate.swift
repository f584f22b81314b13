import Synchronization

/// Limits the concurrent requests per host; further requests wait.
///
/// Not a `WorkTable`: the requests differ, and each is sent.
package final class HostGate: Sendable {
    private struct State {
        var admission: HostAdmission
        var waiting: [Int: CheckedContinuation<Void, any Error>] = [:]
        var nextRequest = 0
    }

    private let state: Mutex<State>

    package init(limit: Int) {
        state = Mutex(State(admission: HostAdmission(limit: limit)))
    }

    /// Returns when a request to `host` may be sent; `leave` has to follow.
    ///
    /// The most urgent request goes first; a change of `priority` counts at once.
    /// - Throws: `CancellationError` when the task is cancelled before; `leave` must not follow.
    package func enter(_ host: String, priority: TransferPriority) async throws {
        let request = state.withLock { state in
            state.nextRequest += 1
            return state.nextRequest
        }
        // Observed before the request enters, so that no change is lost; the value is read under the
        // lock, so that of two changes the later one counts.
        priority.observe { [weak self] in
            self?.state.withLock {
                $0.admission.reprioritize(request, host: host, priority: priority.value)
            }
        }
        defer { priority.observe(nil) }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let entry: Result<Void, any Error>? = state.withLock { state in
                    // A cancellation before this point finds no continuation.
                    if Task.isCancelled { return .failure(CancellationError()) }
                    let isAdmitted = state.admission.enter(
                        request, host: host, priority: priority.value)
                    if isAdmitted { return .success(()) }
                    state.waiting[request] = continuation
                    return nil
                }
                if let entry { continuation.resume(with: entry) }
            }
        } onCancel: {
            let waiting = state.withLock { state in
                state.admission.abandon(request, host: host)
                    ? state.waiting.removeValue(forKey: request) : nil
            }
            waiting?.resume(throwing: CancellationError())
        }
    }

    package var waitingCount: Int { state.withLock { $0.waiting.count } }

    package func leave(_ host: String) {
        admit { $0.leave(host) }
    }

    package func multiplex(_ host: String) {
        admit { $0.multiplex(host) }
    }

    private func admit(_ change: (inout HostAdmission) -> [Int]) {
        let next = state.withLock { state in
            change(&state.admission).compactMap { state.waiting.removeValue(forKey: $0) }
        }
        for continuation in next { continuation.resume() }
    }
}

/// Decides how many requests run at a time per host; the others wait in a queue.
///
/// The most urgent request goes first, and among equally urgent ones the first to arrive.
///
/// The HTTP client has a queue of its own, but counts the time in it as time to connect, so that a
/// long list of images from a slow server would time out.
package struct HostAdmission {
    /// The least recommended concurrency of an HTTP/2 connection (RFC 9113, section 6.5.2).
    package static let multiplexedLimit = 100

    private struct QueuedRequest {
        let request: Int
        /// The position in the order of arrival, over all hosts.
        let arrival: Int
        var priority: Float

        func isBefore(_ other: QueuedRequest) -> Bool {
            priority == other.priority ? arrival < other.arrival : priority > other.priority
        }
    }

    private struct Host {
        var running = 0
        /// The queue, with the next request first.
        var line: [QueuedRequest] = []
        var isMultiplexed = false

        mutating func insert(_ queued: QueuedRequest) {
            // Searched from the end, where most requests go.
            let last = line.lastIndex { $0.isBefore(queued) }
            line.insert(queued, at: last.map { $0 + 1 } ?? 0)
        }

        mutating func remove(_ request: Int) -> QueuedRequest? {
            line.firstIndex { $0.request == request }.map { line.remove(at: $0) }
        }
    }

    /// The concurrent requests to a host without multiplexing.
    package let limit: Int
    private var hosts: [String: Host] = [:]
    private var nextArrival = 0

    package init(limit: Int) {
        self.limit = limit
    }

    /// Adds a request; `false` when it has to wait.
    ///
    /// - Parameter priority: Must not be NaN.
    package mutating func enter(_ request: Int, host: String, priority: Float) -> Bool {
        let queued = QueuedRequest(request: request, arrival: nextArrival, priority: priority)
        nextArrival += 1
        hosts[host, default: Host()].insert(queued)
        return admitted(to: host).contains(request)
    }

    /// Changes the priority of a queued request; does nothing when it is not queued.
    package mutating func reprioritize(_ request: Int, host: String, priority: Float) {
        guard var queued = hosts[host]?.remove(request) else { return }
        queued.priority = priority
        hosts[host]?.insert(queued)
    }

    /// Ends a running request; returns the requests that are now admitted.
    package mutating func leave(_ host: String) -> [Int] {
        hosts[host]?.running -= 1
        return admitted(to: host)
    }

    /// Removes a request from the queue; `false` when it is not in it.
    package mutating func abandon(_ request: Int, host: String) -> Bool {
        hosts[host]?.remove(request) != nil
    }

    /// Notes that all requests to a host share one connection; returns the requests that are now admitted.
    package mutating func multiplex(_ host: String) -> [Int] {
        guard hosts[host]?.isMultiplexed == false else { return [] }
        hosts[host]?.isMultiplexed = true
        return admitted(to: host)
    }

    private mutating func admitted(to name: String) -> [Int] {
        guard var host = hosts[name] else { return [] }
        let limit = host.isMultiplexed ? Self.multiplexedLimit : limit
        let admitted = host.line.prefix(max(0, limit - host.running)).map(\.request)
        host.line.removeFirst(admitted.count)
        host.running += admitted.count
        hosts[name] = host.running == 0 && !host.isMultiplexed ? nil : host
        return admitted
    }
}

/// The priority of a transfer, which may change while it waits for admission.
package final class TransferPriority: Sendable {
    /// The priority of a download that sets none.
    package static let standard: Float = 0.5
    /// The priority of a transfer whose image is not on display.
    package static let low: Float = 0.25
    /// The priority of a load whose view has been given another image: behind all others.
    package static let superseded = -Float.infinity

    private struct State {
        var value = TransferPriority.standard
        var change: UInt64 = 0
        var observer: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    package init() {}

    /// 0.5 at first; never NaN.
    package var value: Float { state.withLock { $0.value } }

    /// Sets the value and tells the observer, unless a change with a greater number came before.
    package func set(_ value: Float, change: UInt64) {
        let observer = state.withLock { state -> (@Sendable () -> Void)? in
            guard change > state.change else { return nil }
            state.value = value
            state.change = change
            return state.observer
        }
        observer?()
    }

    /// Runs `observer` after each later change, replacing an earlier observer; `nil` removes it.
    package func observe(_ observer: (@Sendable () -> Void)?) {
        // Released after the lock: the observer may own an object with a `deinit`.
        _ = state.withLock { state in
            defer { state.observer = observer }
            return state.observer
        }
    }
}
