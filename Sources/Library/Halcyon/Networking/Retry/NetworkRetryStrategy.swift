public import Foundation

/// Tries again when there is a network: at once while there is one, otherwise when it comes back.
public struct NetworkRetryStrategy: RetryStrategy {
    /// Seconds to wait for the network; `nil` waits without limit.
    public let timeoutInterval: TimeInterval?
    /// The most retries of a request, so that a server that keeps failing is given up.
    public let maxRetryCount: Int
    /// The most seconds that are waited, while there is a network, because the server asked for it
    /// (`Retry-After`). A request whose server wants more is given up; 0 has no server's wish looked
    /// at.
    public let maximumRetryAfter: TimeInterval
    private let monitor: any NetworkMonitoring

    public init(
        timeoutInterval: TimeInterval? = 30, maxRetryCount: Int = 10,
        maximumRetryAfter: TimeInterval = 60
    ) {
        self.init(
            timeoutInterval: timeoutInterval, maxRetryCount: maxRetryCount,
            maximumRetryAfter: maximumRetryAfter, monitor: NetworkMonitor.shared)
    }

    init(
        timeoutInterval: TimeInterval?, maxRetryCount: Int = 10,
        maximumRetryAfter: TimeInterval = 60, monitor: any NetworkMonitoring
    ) {
        self.timeoutInterval = timeoutInterval
        self.maxRetryCount = maxRetryCount
        self.maximumRetryAfter = maximumRetryAfter
        self.monitor = monitor
    }

    /// Decides to retry with `nil` while connected, once the time is over that the server asked for;
    /// with the observer after a reconnection; and to stop at the timeout. A second call with the same
    /// context replaces the observer of the first.
    public func retry(
        context: RetryContext, retryHandler: @escaping @Sendable (RetryDecision) -> Void
    ) {
        (context.userInfo as? NetworkObserver)?.cancel()
        guard context.retriedCount < maxRetryCount, context.isWorthRetrying else {
            return retryHandler(.stop)
        }
        guard monitor.isConnected else { return waitForNetwork(context, retryHandler) }
        guard let patience = context.patience(upTo: maximumRetryAfter) else {
            return retryHandler(.stop)
        }
        guard patience > 0 else { return retryHandler(.retry(userInfo: nil)) }
        DispatchQueue.global().asyncAfter(deadline: .now() + patience) {
            // The network may have gone meanwhile.
            guard monitor.isConnected else { return waitForNetwork(context, retryHandler) }
            retryHandler(.retry(userInfo: nil))
        }
    }

    private func waitForNetwork(
        _ context: RetryContext, _ retryHandler: @escaping @Sendable (RetryDecision) -> Void
    ) {
        // The closure needs an observer before there is one.
        let observer = NetworkObserver()
        let observing = monitor.observeConnectivity(timeoutInterval: timeoutInterval) { connected in
            retryHandler(connected ? .retry(userInfo: observer) : .stop)
        }
        observer.onCancel { observing.cancel() }
        context.userInfo = observer
    }
}
