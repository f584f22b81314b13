package import HalcyonWork
package import Tracing

/// Makes spans below that of the task, by a tracer; nothing where there is none.
///
/// Work that several requests share is part of the trace of the one that began it, since its task has
/// inherited the context.
package struct SpanScope: Sendable {
    /// `nil` when no spans are made.
    package let tracer: (any Tracer)?
    private let time: TimeSource

    /// - Parameter tracer: The one that does nothing counts as none.
    package init(_ tracer: (any Tracer)?, time: TimeSource = .system) {
        self.tracer = tracer is NoOpTracer ? nil : tracer
        self.time = time
    }

    /// What `work` returns or throws, as a span; `work` is given it, if there is one.
    package func span<Value, Failure: Error>(
        _ name: String, ofKind kind: SpanKind = .internal,
        _ work: ((any Span)?) async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        guard let tracer else { return try await work(nil) }
        let span = tracer.startSpan(name, ofKind: kind)
        defer { span.end() }
        let result = await ServiceContext.$current.withValue(span.context) {
            do throws(Failure) {
                return Result<Value, Failure>.success(try await work(span))
            } catch {
                span.setStatus(SpanStatus(code: .error))
                return .failure(error)
            }
        }
        return try result.get()
    }

    /// Something that has been done, as a span.
    ///
    /// - Parameters:
    ///   - end: Now, if it is `nil`.
    ///   - context: What it belongs to, where that is not the task's.
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
