import Foundation
import InMemoryTracing
import MetricsTestKit
import Testing
import Tracing

@testable import Halcyon
@testable import HalcyonTelemetry

/// What the events of one request say of its stages; a value, with times made up.
@Suite struct RequestTrailTests {
    private let start = ContinuousClock.now

    /// The steps that events at 1, 2, 3… milliseconds come to, as text.
    private func steps(_ kinds: [ImageEvent.Kind]) -> [String] {
        var trail = RequestTrail(start: start)
        var texts: [String] = []
        for (index, kind) in kinds.enumerated() {
            for step in trail.follow(kind, at: start + .milliseconds(index + 1)) {
                texts.append(text(step))
            }
        }
        return texts
    }

    private func text(_ step: RequestTrail.Step) -> String {
        func span(_ from: RequestTrail.Instant, _ to: RequestTrail.Instant) -> String {
            "\((from - start) / .milliseconds(1))–\((to - start) / .milliseconds(1))"
        }
        switch step {
        case .stage(let stage, let from, let to): return "\(stage) \(span(from, to))"
        case .fetched(let count, _, let from, let to): return "fetched \(count) \(span(from, to))"
        case .unfetched(let isFailure, let from, let to):
            return "\(isFailure ? "unfetched" : "given up") \(span(from, to))"
        case .retried: return "retried"
        case .revalidated: return "revalidated"
        case .ended(let end): return "\(end.name) \(end.cacheName)"
        }
    }

    private static let provider = Source.provider(RawImageDataProvider(data: Data(), cacheKey: "a"))
    private static let failure = KingfisherError.requestError(reason: .emptyRequest)

    private static let made = ImageEvent.Kind.made(
        waiting: .microseconds(250), processing: .microseconds(500), rendering: .milliseconds(1))

    static let cases: [([ImageEvent.Kind], [String])] = [
        ([.found(.memory), .succeeded(.memory)], ["lookup 0.0–1.0", "succeeded memory"]),
        (
            [.waiting, .transferred(byteCount: 9, nil), .stored(.memory), .stored(.disk)],
            ["lookup 0.0–1.0", "fetched 9 1.0–2.0", "store 3.0–4.0"]
        ),
        (
            [.foundOriginal, made],
            ["lookup 0.0–1.0", "queue 0.25–0.5", "process 0.5–1.0", "decode 1.0–2.0"]
        ),
        (
            [.waiting, .retried(provider), .waiting, .failed(failure)],
            [
                "lookup 0.0–1.0", "unfetched 1.0–2.0", "retried", "lookup 2.0–3.0",
                "unfetched 3.0–4.0", "failed none",
            ]
        ),
        ([.waiting, .cancelled], ["lookup 0.0–1.0", "given up 1.0–2.0", "cancelled none"]),
        ([.cancelled], ["lookup 0.0–1.0", "cancelled none"]),
        (
            [.waiting, .found(.disk), .revalidated, .succeeded(.disk)],
            ["lookup 0.0–1.0", "unfetched 1.0–2.0", "revalidated", "succeeded disk"]
        ),
    ]

    @Test(arguments: cases) func eventsAreStages(kinds: [ImageEvent.Kind], stages: [String]) {
        #expect(steps(kinds) == stages)
    }

    private func event(_ number: Int, _ kind: ImageEvent.Kind) -> ImageEvent {
        ImageEvent(
            request: ImageEvent.RequestID(number: UInt64(number)), source: Self.provider,
            time: start, kind: kind)
    }

    @Test func requestsThatEndedAreForgottenAfterAWhile() {
        let metrics = TestMetrics()
        var observer = RequestObserver(metrics: ImageMetrics(metrics), tracer: nil)
        for number in 1...10_000 {
            observer.take(event(number, .started))
            observer.take(event(number, .waiting))
            observer.take(event(number, .transferred(byteCount: 1, nil)))
            observer.take(event(number, .succeeded(.none)))
        }
        #expect(observer.count <= 2_048)
        #expect(metrics.counterTotal(label: "halcyon_requests_total") == 10_000)
        observer.take(event(20_000, .started))
        observer.take(event(20_000, .succeeded(.memory)))
        #expect(observer.count <= 2_048)
    }

    @Test func requestsWhoseEndWasLostDoNotPileUp() {
        let tracer = InMemoryTracer()
        var observer = RequestObserver(metrics: nil, tracer: tracer)
        for number in 1...20_000 { observer.take(event(number, .started)) }
        #expect(observer.count <= 16_384)
        #expect(tracer.activeSpans.count == observer.count)
        // The latest are still followed.
        observer.take(event(20_000, .succeeded(.memory)))
        #expect(tracer.finishedSpans.last?.attributes.get("halcyon.cache") == .string("memory"))
        observer.end(at: start)
        #expect(tracer.activeSpans.isEmpty)
    }

    @Test func requestsThatBeganBeforeAreNotFollowed() {
        let metrics = TestMetrics()
        var observer = RequestObserver(metrics: ImageMetrics(metrics), tracer: nil)
        observer.take(event(1, .succeeded(.memory)))
        #expect(observer.count == 0 && metrics.counters.isEmpty)
    }
}
