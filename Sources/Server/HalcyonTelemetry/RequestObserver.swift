import Halcyon
import HalcyonWork
import Tracing

/// Turns the events of requests into metrics and spans as they arrive.
struct RequestObserver {
    /// The limit of followed requests; beyond it the oldest, whose events are lost, are dropped.
    private static let most = 16_384
    /// The limit of ended requests, which are followed until their files are written.
    private static let mostEnded = 1_024

    private struct Followed {
        var trail: RequestTrail
        var span: ImageSpan?
        var hasEnded = false
    }

    private let metrics: ImageMetrics?
    private let tracer: (any Tracer)?
    private let time: TimeSource
    private var requests: [ImageEvent.RequestID: Followed] = [:]
    /// The ended requests, the oldest first.
    private var ended: [ImageEvent.RequestID] = []

    init(metrics: ImageMetrics?, tracer: (any Tracer)?, time: TimeSource = .system) {
        self.metrics = metrics
        self.tracer = tracer
        self.time = time
    }

    var count: Int { requests.count }

    /// - Parameter context: The context of a starting request, if any.
    mutating func take(_ event: ImageEvent, in context: ServiceContext? = nil) {
        if case .started = event.kind {
            requests[event.request] = Followed(
                trail: RequestTrail(start: event.time),
                span: tracer.map { ImageSpan(of: event, in: context, by: $0, time) })
            if requests.count > Self.most { forgetOldest(at: event.time) }
            return
        }
        // A request that began before is not followed.
        guard let index = requests.index(forKey: event.request) else { return }
        let steps = requests.values[index].trail.follow(event.kind, at: event.time)
        let request = requests.values[index]
        for step in steps {
            metrics?.note(step, of: request.trail.start, at: event.time)
            request.span?.note(step, at: event.time)
        }
        if event.kind.isEnd { retire(event.request, index) }
    }

    mutating func end(at time: ContinuousClock.Instant) {
        for request in requests.values where !request.hasEnded { request.span?.end(at: time) }
        requests = [:]
        ended = []
    }

    private mutating func retire(
        _ id: ImageEvent.RequestID, _ index: Dictionary<ImageEvent.RequestID, Followed>.Index
    ) {
        guard requests.values[index].trail.mayBeStored else {
            requests.remove(at: index)
            return
        }
        requests.values[index].hasEnded = true
        ended.append(id)
        if ended.count > 2 * Self.mostEnded {
            for id in ended.prefix(Self.mostEnded) { requests[id] = nil }
            ended.removeFirst(Self.mostEnded)
        }
    }

    private mutating func forgetOldest(at time: ContinuousClock.Instant) {
        let oldest = requests.keys.sorted { $0.number < $1.number }.prefix(Self.most / 8)
        for id in oldest {
            guard let request = requests.removeValue(forKey: id) else { continue }
            if !request.hasEnded { request.span?.end(at: time) }
        }
        ended.removeAll { requests[$0] == nil }
    }
}
