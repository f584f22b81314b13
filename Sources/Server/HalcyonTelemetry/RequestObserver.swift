import Halcyon
import Tracing

/// Makes metrics and spans of the events of requests, each as it comes.
struct RequestObserver {
    /// Of more requests than this the oldest are no longer followed: their events have been lost.
    private static let most = 16_384
    /// After their end so many are followed on, until their files are written.
    private static let mostEnded = 1_024

    private struct Followed {
        var trail: RequestTrail
        var span: ImageSpan?
        var hasEnded = false
    }

    private let metrics: ImageMetrics?
    private let tracer: (any Tracer)?
    private var requests: [ImageEvent.RequestID: Followed] = [:]
    /// Those that have ended, the oldest first.
    private var ended: [ImageEvent.RequestID] = []

    init(metrics: ImageMetrics?, tracer: (any Tracer)?) {
        self.metrics = metrics
        self.tracer = tracer
    }

    /// Requests that are known.
    var count: Int { requests.count }

    /// - Parameter context: What a request that starts is part of, if anything.
    mutating func take(_ event: ImageEvent, in context: ServiceContext? = nil) {
        if case .started = event.kind {
            requests[event.request] = Followed(
                trail: RequestTrail(start: event.time),
                span: tracer.map { ImageSpan(of: event, in: context, by: $0) })
            if requests.count > Self.most { forgetOldest(at: event.time) }
            return
        }
        // One that began before is not followed.
        guard let index = requests.index(forKey: event.request) else { return }
        let steps = requests.values[index].trail.follow(event.kind, at: event.time)
        let request = requests.values[index]
        for step in steps {
            metrics?.note(step, of: request.trail.start, at: event.time)
            request.span?.note(step, at: event.time)
        }
        if event.kind.isEnd { retire(event.request, index) }
    }

    /// Ends all spans.
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
