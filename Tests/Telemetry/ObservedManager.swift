import Foundation
import HalcyonTestKit
import InMemoryTracing
import MetricsTestKit
import Tracing

@testable import Halcyon
@testable import HalcyonTelemetry

/// A manager with an origin and a cache of its own, whose requests are observed.
final class ObservedManager: Sendable {
    let origin: OriginServer
    let manager: KingfisherManager
    let metrics = TestMetrics()
    let tracer = InMemoryTracer()
    private let folder: TemporaryDirectory
    var url: URL { origin.url("/photo.png") }

    init() async throws {
        let png = PNGFixture.data(.gradient(width: 64, height: 48))
        origin = try await OriginServer.start(files: ["/photo.png": png])
        folder = try TemporaryDirectory()
        manager = KingfisherManager(
            downloader: .patient(),
            cache: try ImageCache(name: "test", cacheDirectoryURL: folder.url))
        manager.defaultOptions = [.waitForCache]
    }

    /// Observes what `body` does until all of its events have been taken.
    func observe(_ body: () async throws -> Void) async throws {
        let observation = ImageObservation(of: manager, metrics: metrics, tracer: tracer)
        let observing = Task { await observation.run() }
        defer { observing.cancel() }
        try await body()
        // What has been told is still taken.
        observing.cancel()
        await observing.value
    }

    @discardableResult
    func retrieve(
        _ options: KingfisherOptionsInfo = [], _ url: URL? = nil
    ) async throws -> RetrieveImageResult {
        try await manager.retrieveImage(with: url ?? self.url, options: options)
    }

    /// Observes what `body` does while the origin's answer for `/slow.png` waits until the gate is open.
    func observeSlow(
        _ response: OriginResponse = .png(PNGFixture.solid(Pixel(1, 2, 3), width: 4, height: 4)),
        _ body: (_ slow: URL, Gate) async throws -> Void
    ) async throws {
        let gate = Gate()
        origin.route("/slow.png", response.with(.wait(.gate(gate))))
        try await observe { try await body(origin.url("/slow.png"), gate) }
        gate.open()
    }

    /// Waits until so many requests of `events` wait for a download.
    func wait(forWaiting count: Int, in events: AsyncStream<ImageEvent>) async {
        var waiting = 0
        for await event in events {
            if case .waiting = event.kind { waiting += 1 }
            if waiting == count { break }
        }
    }

    var roots: [FinishedInMemorySpan] { tracer.finishedSpans.filter { $0.parentSpanID == nil } }

    func requests(below span: any Span) -> [FinishedInMemorySpan] {
        tracer.finishedSpans.filter {
            $0.operationName == "halcyon.image"
                && $0.parentSpanID == span.context.inMemorySpanContext?.spanID
        }
    }

    /// Those of the stages of a request, as they ended.
    func children(of span: FinishedInMemorySpan) -> [FinishedInMemorySpan] {
        tracer.finishedSpans.filter { $0.parentSpanID == span.spanID }
    }

    func count(_ label: String, _ labels: [(String, String)] = []) -> Int64 {
        metrics.counterTotal(label: label, dimensions: labels)
    }

    /// How many requests had this result, with an image of this cache.
    func requests(_ result: String, _ cache: String) -> Int64 {
        count("halcyon_requests_total", [("result", result), ("cache", cache)])
    }

    /// How often the time of a stage was taken.
    func times(ofStage stage: String) -> Int {
        metrics.timers(
            label: "halcyon_request_stage_duration_seconds", dimensions: [("stage", stage)]
        ).map(\.values.count).reduce(0, +)
    }
}

extension FinishedInMemorySpan {
    /// An attribute as text.
    subscript(name: String) -> String? {
        switch attributes.get(name) {
        case .string(let text): text
        case .int64(let number): String(number)
        case .int32(let number): String(number)
        case .bool(let flag): String(flag)
        default: nil
        }
    }

    /// In nanoseconds of the day's clock.
    var start: UInt64 { startInstant.nanosecondsSinceEpoch }
    var end: UInt64 { endInstant.nanosecondsSinceEpoch }
}
