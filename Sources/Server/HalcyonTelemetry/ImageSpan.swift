import Foundation
import Halcyon
import HalcyonWork
import Tracing

/// The span of a request, and those of its stages below it.
struct ImageSpan {
    private let tracer: any Tracer
    private let span: any Span
    private let clock: TraceClock

    /// - Parameters:
    ///   - event: That of the request's start.
    ///   - context: What the request is part of; `nil` for the root of a trace.
    ///   - time: The clock of the events.
    init(
        of event: ImageEvent, in context: ServiceContext?, by tracer: any Tracer, _ time: TimeSource
    ) {
        self.tracer = tracer
        let clock = TraceClock(time)
        self.clock = clock
        span = tracer.startSpan(
            "halcyon.image", context: context ?? .topLevel, ofKind: .internal,
            at: clock.time(event.time))
        span.updateAttributes { $0.setSource(event.source) }
    }

    func note(_ step: RequestTrail.Step, at time: ContinuousClock.Instant) {
        switch step {
        case .stage(let stage, let from, let to):
            child(stage, from, to) { _ in }
        case .fetched(let byteCount, let network, let from, let to):
            child(.fetch, from, to) { fetch in
                fetch.updateAttributes {
                    $0["http.response.body.size"] = byteCount
                    if let network { $0.set(network) }
                }
            }
        case .unfetched(let isFailure, let from, let to):
            child(.fetch, from, to) { if isFailure { $0.setStatus(SpanStatus(code: .error)) } }
        case .retried: addEvent("retried", at: time)
        case .revalidated: addEvent("revalidated", at: time)
        case .ended(let end):
            span.updateAttributes { attributes in
                attributes["halcyon.result"] = end.name
                switch end {
                case .succeeded(let cache): attributes["halcyon.cache"] = cache.name
                case .failed(let code): attributes["error.type"] = String(code)
                case .cancelled: break
                }
            }
            if case .failed = end { span.setStatus(SpanStatus(code: .error)) }
            self.end(at: time)
        }
    }

    func end(at time: ContinuousClock.Instant) { span.end(at: clock.time(time)) }

    private func addEvent(_ name: String, at time: ContinuousClock.Instant) {
        span.addEvent(SpanEvent(name: name, at: clock.time(time)))
    }

    private func child(
        _ stage: ImageStage, _ from: ContinuousClock.Instant, _ to: ContinuousClock.Instant,
        _ describe: (any Span) -> Void
    ) {
        let child = tracer.startSpan(
            stage.spanName, context: span.context, ofKind: stage == .fetch ? .client : .internal,
            at: clock.time(from))
        describe(child)
        child.end(at: clock.time(to))
    }
}

extension SpanAttributes {
    /// Where an image comes from, without what may be secret: neither queries nor passwords.
    fileprivate mutating func setSource(_ source: Source) {
        guard case .network(let resource) = source else {
            self["halcyon.source"] = "provider"
            return
        }
        let url = resource.downloadURL
        self["halcyon.source"] = "network"
        self["url.scheme"] = url.scheme ?? ""
        guard let host = url.host else { return }
        self["server.address"] = host
        self["url.path"] = url.path
    }

    fileprivate mutating func set(_ network: NetworkMetrics) {
        if let status = network.httpStatusCode { self["http.response.status_code"] = status }
        if let isReused = network.isConnectionReused {
            self["halcyon.connection.reused"] = isReused
        }
        self["halcyon.redirects"] = network.redirectCount
        for (name, seconds) in network.parts { self["halcyon.seconds.\(name)"] = seconds }
    }
}
