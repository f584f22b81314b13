import Logging
import HalcyonWork
import Synchronization

/// Logs at most once a minute for each cache that it cannot be used; requests do without it.
final class CacheTrouble: Sendable {
    private let logger: Logger
    private let metrics: ServerMetrics
    private let time: TimeSource
    private let last = Mutex<[String: ContinuousClock.Instant]>([:])

    init(logger: Logger, metrics: ServerMetrics, time: TimeSource) {
        self.logger = logger
        self.metrics = metrics
        self.time = time
    }

    func note(_ cache: String, _ error: any Error) {
        metrics.cacheErrors.add([cache])
        let now = time.now
        let isNews = last.withLock { last in
            if let last = last[cache], now - last < .seconds(60) { return false }
            last[cache] = now
            return true
        }
        if isNews {
            logger.error("The \(cache) cache cannot be used", metadata: ["cause": "\(error)"])
        }
    }
}
