package import HalcyonWork
package import Tracing

/// Creates child spans of the task's span, by a tracer; does nothing without one.
///
/// Work shared by several requests belongs to the first one's trace, which its task inherited.
package struct SpanScope: Sendable {
    /// The tracer; `nil` when no spans are created.
    package let tracer: (any Tracer)?
    private let time: TimeSource

    /// - Parameter tracer: A `NoOpTracer` counts as none.
    package init(_ tracer: (any Tracer)?, time: TimeSource = .system) {
        self.tracer = tracer is NoOpTracer ? nil : tracer
        self.time = time
    }

    /// Runs `work` in a span, if there is a tracer, and passes on its result or error.
    package func span<Value, Failure: Error>(
        _ name: String, ofKind kind: SpanKind = .internal,
        _ work: ((any Span)?) async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        guard let tracer else { return try await work(nil) }
        let span = tracer.startSpan(name, ofKind: kind)
        defer { span.end() }
        let result = await ServiceContext.$current.withValue(span.context) {
            await Result { () async throws(Failure) in try await work(span) }
        }
        if case .failure = result { span.setStatus(SpanStatus(code: .error)) }
        return try result.get()
    }

    /// Records completed work as a span.
    ///
    /// - Parameters:
    ///   - end: Now, if it is `nil`.
    ///   - context: The context of the work, if it is not the task's.
    package func note(
        _ name: String, from start: ContinuousClock.Instant, to end: ContinuousClock.Instant? = nil,
        in context: @autoclosure () -> ServiceContext? = ServiceContext.current,
        failed: Bool = false, _ attributes: @autoclosure () -> SpanAttributes = [:]
    ) {
        guard let tracer else { return }
        let end = end ?? time.now
        let clock = TraceClock(time)
        let span = tracer.startSpan(
            name, context: context() ?? .topLevel, ofKind: .internal, at: clock.time(start))
        span.updateAttributes { $0.merge(attributes()) }
        if failed { span.setStatus(SpanStatus(code: .error)) }
        span.end(at: clock.time(end))
    }
}
