public import Foundation

/// Tries again when there is a network: at once while there is one, otherwise when it comes back.
public struct NetworkRetryStrategy: RetryStrategy {
    /// Seconds to wait for the network; `nil` waits without limit.
    public let timeoutInterval: TimeInterval?
    /// The most retries of a request, so that a server that keeps failing is given up.
    public let maxRetryCount: Int
    private let monitor: any NetworkMonitoring

    public init(timeoutInterval: TimeInterval? = 30, maxRetryCount: Int = 10) {
        self.init(
            timeoutInterval: timeoutInterval, maxRetryCount: maxRetryCount,
            monitor: NetworkMonitor.shared)
    }

    init(
        timeoutInterval: TimeInterval?, maxRetryCount: Int = 10, monitor: any NetworkMonitoring
    ) {
        self.timeoutInterval = timeoutInterval
        self.maxRetryCount = maxRetryCount
        self.monitor = monitor
    }

    /// Decides to retry with `nil` while connected, with the observer after a reconnection, and to
    /// stop at the timeout. A second call with the same context replaces the observer of the first.
    public func retry(
        context: RetryContext, retryHandler: @escaping @Sendable (RetryDecision) -> Void
    ) {
        (context.userInfo as? any NetworkObserver)?.cancel()
        guard context.retriedCount < maxRetryCount, context.isWorthRetrying else {
            return retryHandler(.stop)
        }
        guard !monitor.isConnected else { return retryHandler(.retry(userInfo: nil)) }
        let observer = ObserverReference()
        let observing = monitor.observeConnectivity(timeoutInterval: timeoutInterval) { connected in
            retryHandler(connected ? .retry(userInfo: observer) : .stop)
        }
        observer.set(observing)
        context.userInfo = observer
    }
}

/// Stands for an observer that a closure needs before it exists.
private final class ObserverReference: NetworkObserver {
    private let observer = LatchedObserver()

    func set(_ observer: any NetworkObserver) {
        self.observer.onCancel { observer.cancel() }
    }

    func cancel() { observer.cancel() }
}
