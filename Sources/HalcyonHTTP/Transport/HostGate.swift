import Synchronization

/// Makes requests wait for their turn at a host.
package final class HostGate: Sendable {
    private struct State {
        var admission: HostAdmission
        var waiting: [Int: CheckedContinuation<Void, any Error>] = [:]
        var nextRequest = 0

        /// Takes out the waits of `requests`.
        mutating func take(_ requests: [Int]) -> [CheckedContinuation<Void, any Error>] {
            requests.compactMap { waiting.removeValue(forKey: $0) }
        }
    }

    private enum Entry {
        case goOn
        case wait
        case cancelled
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
                let entry: Entry = state.withLock { state in
                    // A cancellation before this point finds nobody waiting.
                    if Task.isCancelled { return .cancelled }
                    let isAdmitted = state.admission.enter(
                        request, host: host, priority: priority.value)
                    if isAdmitted { return .goOn }
                    state.waiting[request] = continuation
                    return .wait
                }
                switch entry {
                case .goOn: continuation.resume()
                case .cancelled: continuation.resume(throwing: CancellationError())
                case .wait: break
                }
            }
        } onCancel: {
            let waiting = state.withLock { state in
                state.admission.abandon(request, host: host)
                    ? state.waiting.removeValue(forKey: request) : nil
            }
            waiting?.resume(throwing: CancellationError())
        }
    }

    /// How many requests wait now, for all hosts.
    package var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Ends a request to `host`.
    package func leave(_ host: String) {
        let next = state.withLock { $0.take($0.admission.leave(host)) }
        for continuation in next { continuation.resume() }
    }

    /// Notes that `host` serves many requests on one connection.
    package func multiplex(_ host: String) {
        let next = state.withLock { $0.take($0.admission.multiplex(host)) }
        for continuation in next { continuation.resume() }
    }
}
