public import Halcyon
public import Metrics
public import Tracing

/// Metrics and spans of the requests of a manager.
///
/// A request becomes a span, below that of the task that made it, and what was done for it spans below that.
/// It is followed from its events (``KingfisherManager/events``), so that it costs a manager nothing when
/// nobody observes it.
///
/// ```swift
/// let observation = ImageObservation(of: .shared)
/// let observing = Task { await observation.run() }
/// ```
///
/// A program has one observation for a manager; a second one would count everything twice.
public struct ImageObservation: Sendable {
    private let events: AsyncStream<ObservedEvent>
    private let metrics: (any MetricsFactory)?
    private let tracer: (any Tracer)?

    /// Begins to listen: requests from now on are observed, once ``run()`` is called.
    ///
    /// - Parameters:
    ///   - metrics: What counters and timers are made with; by default what `MetricsSystem` has been
    ///     bootstrapped with. `nil` for none.
    ///   - tracer: What spans are made with; by default what `InstrumentationSystem` has been bootstrapped
    ///     with. `nil` for none.
    public init(
        of manager: KingfisherManager,
        metrics: (any MetricsFactory)? = MetricsSystem.factory,
        tracer: (any Tracer)? = InstrumentationSystem.tracer
    ) {
        events = manager.events(noting: { event in
            if case .started = event.kind {
                ObservedEvent(event: event, context: ServiceContext.current)
            } else {
                ObservedEvent(event: event)
            }
        })
        self.metrics = metrics
        self.tracer = tracer
    }

    /// Observes until the task is cancelled or the manager is gone; to be called once.
    ///
    /// Spans of requests that are under way then end with it.
    public func run() async {
        var observer = RequestObserver(
            metrics: metrics.map(ImageMetrics.init), tracer: SpanScope(tracer).tracer)
        for await event in events { observer.take(event.event, in: event.context) }
        observer.end(at: .now)
    }
}

/// An event of a request.
private struct ObservedEvent: Sendable {
    let event: ImageEvent
    /// What the request is part of; only with its start.
    var context: ServiceContext?
}
