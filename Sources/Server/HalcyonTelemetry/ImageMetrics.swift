import Halcyon
import HalcyonWork
import Metrics
import Synchronization

/// The counters and timers of requests.
///
/// Labels have few values: never URLs or request IDs.
final class ImageMetrics: Sendable {
    private struct Name: Hashable {
        let label: String
        let values: [String]
    }

    private struct Made {
        var counters: [Name: Counter] = [:]
        var timers: [Name: Timer] = [:]
    }

    private let factory: any MetricsFactory
    /// The metrics so far: back ends look them up under a lock, so each is requested once.
    private let made = Mutex(Made())

    init(_ factory: any MetricsFactory) { self.factory = factory }

    func note(
        _ step: RequestTrail.Step, of start: ContinuousClock.Instant,
        at time: ContinuousClock.Instant
    ) {
        switch step {
        case .stage(let stage, let from, let to):
            stageTime(stage.rawValue, to - from)
        case .fetched(let byteCount, let network, let from, let to):
            stageTime(ImageStage.fetch.rawValue, to - from)
            count("halcyon_received_bytes_total", by: byteCount)
            for (part, seconds) in network?.parts ?? [] { stageTime(part, .seconds(seconds)) }
        case .unfetched(_, let from, let to):
            stageTime(ImageStage.fetch.rawValue, to - from)
        case .retried:
            count("halcyon_retries_total")
        case .revalidated:
            count("halcyon_revalidations_total")
        case .ended(let end):
            let labels = [("result", end.name), ("cache", end.cacheName)]
            count("halcyon_requests_total", labels)
            observe("halcyon_request_duration_seconds", labels, time - start)
            if case .failed(let code) = end {
                count("halcyon_failures_total", [("code", String(code))])
            }
        }
    }

    private func stageTime(_ stage: String, _ duration: Duration) {
        observe("halcyon_request_stage_duration_seconds", [("stage", stage)], duration)
    }

    private func count(_ label: String, _ labels: [(String, String)] = [], by amount: Int = 1) {
        let name = Name(label: label, values: labels.map(\.1))
        let counter = made.withLock { made in
            if let counter = made.counters[name] { return counter }
            let counter = Counter(label: label, dimensions: labels, factory: factory)
            made.counters[name] = counter
            return counter
        }
        counter.increment(by: amount)
    }

    private func observe(_ label: String, _ labels: [(String, String)], _ duration: Duration) {
        let name = Name(label: label, values: labels.map(\.1))
        let timer = made.withLock { made in
            if let timer = made.timers[name] { return timer }
            let timer = Timer(label: label, dimensions: labels, factory: factory)
            made.timers[name] = timer
            return timer
        }
        timer.recordNanoseconds(max(0, duration.nanoseconds))
    }
}

extension NetworkMetrics {
    /// The measured parts by name, in seconds.
    var parts: [(name: String, seconds: Double)] {
        let parts: [(String, Double?)] = [
            ("name_lookup", domainLookupDuration), ("connect", connectDuration),
            ("tls", secureConnectionDuration), ("first_byte", firstByteDuration),
            ("transfer", retrieveImageDuration),
        ]
        return parts.compactMap { name, seconds in seconds.map { (name, $0) } }
    }
}
