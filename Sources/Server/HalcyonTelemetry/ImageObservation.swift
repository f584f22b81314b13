public import Halcyon
package import HalcyonWork
public import Metrics
public import Tracing

/// Metrics and spans of the requests of a manager.
///
/// A request becomes a child span of the calling task's span, and its steps become child spans of
/// the request's. It is followed by its events (`KingfisherManager.events`), so that a manager
/// without observers has no cost.
///
/// ```swift
/// let observation = ImageObservation(of: .shared)
/// let observing = Task { await observation.run() }
/// ```
///
/// Use one observation per manager; a second one would count everything twice.
public struct ImageObservation: Sendable {
    private let events: AsyncStream<ObservedEvent>
    private let metrics: (any MetricsFactory)?
    private let tracer: (any Tracer)?

    /// Begins to listen: requests from now on are observed, once ``run()`` is called.
    ///
    /// - Parameters:
    ///   - manager: The manager whose requests are observed.
    ///   - metrics: The factory of counters and timers; `nil` for none, by default `MetricsSystem`'s.
    ///   - tracer: The tracer of the spans; `nil` for none, by default `InstrumentationSystem`'s.
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
    /// Then ends the spans of pending requests.
    public func run() async { await run(by: .system) }

    /// - Parameter time: The clock of the manager's events.
    package func run(by time: TimeSource) async {
        var observer = RequestObserver(
            metrics: metrics.map(ImageMetrics.init), tracer: SpanScope(tracer).tracer, time: time)
        for await event in events { observer.take(event.event, in: event.context) }
        observer.end(at: time.now)
    }
}

private struct ObservedEvent: Sendable {
    let event: ImageEvent
    /// The context of the request; only with its start.
    var context: ServiceContext?
}
