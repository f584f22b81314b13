import Foundation
import HalcyonWork
import Synchronization

/// The server's metrics, reported in the text format of Prometheus.
///
/// Labels have few values: never URLs, hosts or request IDs.
final class ServerMetrics: Sendable {
    let requests = Counter(
        "halcyon_http_requests_total", "Requests answered.", ["route", "status"])
    let durations = Histogram(
        "halcyon_http_request_duration_seconds", "From the head of a request to its answer.",
        ["route", "cache"], Histogram.seconds)
    let responseBytes = Histogram(
        "halcyon_http_response_bytes", "Bytes of pictures sent.", ["format"], Histogram.bytes)
    let inFlight = Counter("halcyon_http_requests_in_flight", "Requests under way.", [], .gauge)
    let errors = Counter("halcyon_errors_total", "Answers that are errors.", ["code"])
    let rejected = Counter("halcyon_rejected_total", "Requests turned away.", ["reason"])
    let stages = Histogram(
        "halcyon_stage_duration_seconds", "Parts of the work.", ["stage"], Histogram.fineSeconds)
    let sourceBytes = Histogram(
        "halcyon_source_bytes", "Bytes of sources.", ["format"], Histogram.bytes)
    let sourceResponses = Counter(
        "halcyon_source_responses_total", "Answers of sources' servers.", ["status"])
    let refused = Counter(
        "halcyon_source_refused_total", "Requests for sources that are not fetched.", ["reason"])
    let cacheRequests = Counter(
        "halcyon_cache_requests_total", "Looks into the caches.", ["cache", "tier", "result"])
    let cacheErrors = Counter("halcyon_cache_errors_total", "Failures of the caches.", ["cache"])
    let collapsed = Counter(
        "halcyon_collapsed_total", "Waits for the same work of others.", ["kind"])
    let cancelled = Counter(
        "halcyon_cancelled_total", "Work given up because nobody waited.", ["stage"])
    let pictures = Counter("halcyon_images_total", "Pictures made.", ["in", "out"])
    let pixels = Counter("halcyon_pixels_total", "Pixels decoded and encoded.", ["direction"])
    let signatures = Counter(
        "halcyon_signature_keys_total", "Requests by the key that signed them.", ["index"])

    let leases = Counter(
        "halcyon_leases_total", "What became of the right to work for all servers.", ["event"])

    let objects = Counter(
        "halcyon_shared_objects_total", "Requests to the store of shared bytes.",
        ["operation", "result"])

    /// When the process began, as far as the server knows.
    let start: Date
    private let time: TimeSource

    init(_ time: TimeSource) {
        self.time = time
        start = time.date
    }

    func noteCache(_ cache: String, tier: String, _ result: String) {
        cacheRequests.add([cache, tier, result])
    }

    func noteCollapsed(_ kind: String) { collapsed.add([kind]) }

    func noteSourceResponse(_ status: Int) { sourceResponses.add([String(status)]) }

    /// Records and returns the duration of a stage, from `start` until now.
    func noteStage(_ stage: String, since start: ContinuousClock.Instant) -> Duration {
        let duration = time.now - start
        stages.observe(duration.inSeconds, [stage])
        return duration
    }

    /// Returns all metrics as text, with the present values of gauges.
    func text(adding gauges: [Gauge]) -> String {
        let counters = [
            requests, inFlight, errors, rejected, sourceResponses, refused, cacheRequests,
            cacheErrors, collapsed, cancelled, pictures, pixels, signatures, leases, objects,
        ]
        let histograms = [durations, responseBytes, stages, sourceBytes]
        var text = counters.map(\.text).joined() + histograms.map(\.text).joined()
        var families: [String: [Gauge]] = [:]
        for gauge in gauges { families[gauge.name, default: []].append(gauge) }
        for (name, family) in families.sorted(by: { $0.key < $1.key }) {
            text += "# HELP \(name) \(family[0].help)\n# TYPE \(name) \(family[0].type)\n"
            for gauge in family {
                let labels = MetricText.labels(gauge.labels.map(\.0), gauge.labels.map(\.1))
                text += "\(name)\(labels) \(MetricText.number(gauge.value))\n"
            }
        }
        return text
    }
}

struct Gauge: Sendable {
    let name: String
    let help: String
    let type: String
    let labels: [(String, String)]
    let value: Double

    init(
        _ name: String, _ help: String, number value: Double, _ labels: [(String, String)] = [],
        type: String = "gauge"
    ) {
        self.name = name
        self.help = help
        self.type = type
        self.labels = labels
        self.value = value
    }

    init(
        _ name: String, _ help: String, _ value: Int, _ labels: [(String, String)] = [],
        type: String = "gauge"
    ) {
        self.init(name, help, number: Double(value), labels, type: type)
    }
}

/// A number by labels that only grows, or, as a gauge, goes up and down.
final class Counter: Sendable {
    enum Kind: String, Sendable { case counter, gauge }

    let name: String
    private let help: String
    private let labels: [String]
    private let kind: Kind
    private let values = Observed<[[String]: Double]>([:])

    init(_ name: String, _ help: String, _ labels: [String], _ kind: Kind = .counter) {
        self.name = name
        self.help = help
        self.labels = labels
        self.kind = kind
    }

    /// - Parameter labels: One value for each label.
    func add(_ labels: [String] = [], _ amount: Double = 1) {
        values.update { $0[labels, default: 0] += amount }
    }

    func value(_ labels: [String] = []) -> Double { values.read { $0[labels] ?? 0 } }

    func wait(_ labels: [String] = [], until isReached: @Sendable (Double) -> Bool) async {
        await values.wait { isReached($0[labels] ?? 0) }
    }

    /// The sum over all labels.
    var total: Double { values.read { $0.values.reduce(0, +) } }

    var text: String {
        let values = values.value.sorted { $0.key.lexicographicallyPrecedes($1.key) }
        var text = "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n"
        for (labels, value) in values {
            text += "\(name)\(MetricText.labels(self.labels, labels)) \(MetricText.number(value))\n"
        }
        return text
    }
}

/// A histogram by labels: the number of values up to each bound.
final class Histogram: Sendable {
    private struct Series: Sendable {
        var counts: [Int]
        var sum = 0.0
        var count = 0
    }

    static let seconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
    static let fineSeconds = [0.0001, 0.00025, 0.0005] + seconds
    static let bytes = (0...7).map { 1024 * pow(4, Double($0)) }

    private let name: String
    private let help: String
    private let labels: [String]
    private let bounds: [Double]
    private let series = Mutex<[[String]: Series]>([:])

    init(_ name: String, _ help: String, _ labels: [String], _ bounds: [Double]) {
        self.name = name
        self.help = help
        self.labels = labels
        self.bounds = bounds
    }

    func observe(_ value: Double, _ labels: [String]) {
        let index = bounds.firstIndex { value <= $0 }
        series.withLock { all in
            var one = all[labels] ?? Series(counts: Array(repeating: 0, count: bounds.count))
            if let index { one.counts[index] += 1 }
            one.sum += value
            one.count += 1
            all[labels] = one
        }
    }

    var text: String {
        let all = series.withLock { $0 }.sorted { $0.key.lexicographicallyPrecedes($1.key) }
        var text = "# HELP \(name) \(help)\n# TYPE \(name) histogram\n"
        for (labels, one) in all {
            var sum = 0
            for (bound, count) in zip(bounds, one.counts) {
                sum += count
                let names = MetricText.labels(
                    self.labels + ["le"], labels + [MetricText.number(bound)])
                text += "\(name)_bucket\(names) \(sum)\n"
            }
            let last = MetricText.labels(self.labels + ["le"], labels + ["+Inf"])
            let names = MetricText.labels(self.labels, labels)
            text += "\(name)_bucket\(last) \(one.count)\n"
            text += "\(name)_sum\(names) \(MetricText.number(one.sum))\n"
            text += "\(name)_count\(names) \(one.count)\n"
        }
        return text
    }
}

/// The pieces of Prometheus' text format.
private enum MetricText {
    static func labels(_ names: [String], _ values: [String]) -> String {
        guard !names.isEmpty else { return "" }
        let pairs = zip(names, values).map { name, value in
            let escaped = value.replacingOccurrences(of: "\\", with: "\\\\")
                .replacingOccurrences(of: "\"", with: "\\\"")
                .replacingOccurrences(of: "\n", with: "\\n")
            return "\(name)=\"\(escaped)\""
        }
        return "{\(pairs.joined(separator: ","))}"
    }

    static func number(_ value: Double) -> String {
        Int(exactly: value).map { String($0) } ?? "\(value)"
    }
}
