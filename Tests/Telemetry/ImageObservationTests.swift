import Foundation
import HalcyonTestKit
import HalcyonWork
import InMemoryTracing
import MetricsTestKit
import Testing
import Tracing

@testable import Halcyon
@testable import HalcyonTelemetry

/// Requests as metrics and spans, over a real server.
@Suite(.timeLimit(.minutes(20))) struct ImageObservationTests {
    private let observed: ObservedManager

    init() async throws { observed = try await ObservedManager() }

    @Test func aDownloadIsCountedAndTimedByItsStages() async throws {
        try await observed.observe { try await observed.retrieve() }
        #expect(observed.requests("succeeded", "none") == 1)
        let bytes = PNGFixture.data(.gradient(width: 64, height: 48)).count
        #expect(observed.count("halcyon_received_bytes_total") == Int64(bytes))
        let once = [
            "lookup", "fetch", "name_lookup", "connect", "first_byte", "transfer", "queue",
            "process", "decode", "store",
        ]
        for stage in once { #expect(observed.times(ofStage: stage) == 1, "\(stage)") }
        // There was none.
        #expect(observed.times(ofStage: "tls") == 0)
        let durations = try observed.metrics.expectTimer(
            "halcyon_request_duration_seconds", [("result", "succeeded"), ("cache", "none")])
        #expect(durations.values.count == 1 && durations.values[0] > 0)
        #expect(observed.metrics.counters(label: "halcyon_failures_total").isEmpty)
    }

    @Test func aDownloadIsASpanWithItsStagesBelow() async throws {
        try await observed.observe { try await observed.retrieve() }
        #expect(observed.roots.count == 1)
        let root = try #require(observed.roots.first)
        #expect(root.operationName == "halcyon.image")
        #expect(root["halcyon.result"] == "succeeded" && root["halcyon.cache"] == "none")
        #expect(root["server.address"] == "127.0.0.1" && root["url.path"] == "/photo.png")
        #expect(root.status == nil)
        let children = observed.children(of: root)
        #expect(
            children.map(\.operationName) == [
                "halcyon.cache.read", "halcyon.fetch", "halcyon.queue", "halcyon.process",
                "halcyon.decode", "halcyon.cache.write",
            ])
        let fetch = try #require(children.first { $0.operationName == "halcyon.fetch" })
        #expect(fetch.kind == .client && fetch["http.response.status_code"] == "200")
        #expect(fetch["halcyon.connection.reused"] == "false")
        #expect(fetch.attributes.get("halcyon.seconds.first_byte") != nil)
        for child in children {
            #expect(root.start <= child.start && child.start <= child.end && child.end <= root.end)
        }
        #expect(observed.tracer.activeSpans.isEmpty)
        // The times are those of the day.
        #expect(DefaultTracerClock.now.nanosecondsSinceEpoch - root.end < 600_000_000_000)
    }

    @Test func hitsAreCountedByTheirCache() async throws {
        try await observed.retrieve()
        try await observed.observe {
            try await observed.retrieve()
            observed.manager.cache.clearMemoryCache()
            try await observed.retrieve()
        }
        for cache in ["memory", "disk"] { #expect(observed.requests("succeeded", cache) == 1) }
        #expect(observed.times(ofStage: "lookup") == 2 && observed.times(ofStage: "fetch") == 0)
        #expect(observed.roots.map { $0["halcyon.cache"] } == ["memory", "disk"])
        for root in observed.roots {
            #expect(observed.children(of: root).map(\.operationName) == ["halcyon.cache.read"])
        }
    }

    @Test func aFailureHasItsCode() async throws {
        let lost = observed.origin.url("/lost.png")
        try await observed.observe {
            await #expect(throws: KingfisherError.self) { try await observed.retrieve([], lost) }
        }
        let code = "2002"
        #expect(observed.count("halcyon_failures_total", [("code", code)]) == 1)
        #expect(observed.requests("failed", "none") == 1)
        let root = try #require(observed.roots.first)
        #expect(root["error.type"] == code && root.status?.code == .error)
        let fetch = try #require(observed.children(of: root).last)
        #expect(fetch.operationName == "halcyon.fetch" && fetch.status?.code == .error)
    }

    @Test func aCancelledRequestIsNoError() async throws {
        let told = Recorder<ImageEvent>()
        try await observed.observeSlow { slow, _ in
            let loading = Task { try await observed.retrieve([.onEvent { told.record($0) }], slow) }
            await observed.origin.waitForRequests(1, path: "/slow.png")
            loading.cancel()
            _ = await loading.result
            // The observation hears of it first.
            await told.wait { $0.contains { $0.kind.isEnd } }
        }
        #expect(observed.requests("cancelled", "none") == 1)
        #expect(observed.metrics.counters(label: "halcyon_failures_total").isEmpty)
        #expect(try #require(observed.roots.first)["halcyon.result"] == "cancelled")
        #expect(observed.tracer.finishedSpans.allSatisfy { $0.status == nil })
    }

    @Test func anotherAttemptIsCountedAndNotedInTheSpan() async throws {
        let lost = observed.origin.url("/lost.png")
        try await observed.observe {
            try await observed.retrieve([.alternativeSources([.network(observed.url)])], lost)
        }
        #expect(observed.count("halcyon_retries_total") == 1)
        let root = try #require(observed.roots.first)
        #expect(root.events.map(\.name) == ["retried"])
        let names = observed.children(of: root).map(\.operationName)
        #expect(names.count { $0 == "halcyon.fetch" } == 2)
        #expect(root["halcyon.result"] == "succeeded")
    }

    @Test func aRequestIsBelowTheSpanOfTheTaskThatMakesIt() async throws {
        let (outer, inner) = (observed.tracer.startSpan("outer"), OneShot<any Span>())
        try await observed.observe {
            try await ServiceContext.$current.withValue(outer.context) {
                try await observed.retrieve()
                try await observed.tracer.withSpan("inner") { span in
                    inner.give(span)
                    try await observed.retrieve()
                }
            }
            // One that is made outside begins a trace.
            try await observed.retrieve()
        }
        outer.end()
        let first = observed.requests(below: outer)
        #expect(first.map { $0["halcyon.cache"] } == ["none"])
        let second = observed.requests(below: await inner.value)
        #expect(second.map { $0["halcyon.cache"] } == ["memory"])
        #expect(
            Set((first + second).map(\.traceID)) == [outer.context.inMemorySpanContext?.traceID])
        // Stages stay below their request.
        let request = try #require(first.first)
        #expect(observed.children(of: request).count == 6)
        #expect(observed.children(of: request).allSatisfy { $0.traceID == request.traceID })
        #expect(observed.roots.map(\.operationName) == ["halcyon.image", "outer"])
        #expect(observed.roots.first?["halcyon.cache"] == "memory")
    }

    @Test func aRequestWithACompletionHandlerIsBelowItToo() async throws {
        let span = observed.tracer.startSpan("click")
        let manager = observed.manager
        let sources = ["/photo.png?1", "/photo.png?2"].map {
            Source.network(KF.ImageResource(downloadURL: observed.origin.url($0)))
        }
        try await observed.observe {
            let (one, set) = (OneShot<Bool>(), OneShot<Int>())
            ServiceContext.$current.withValue(span.context) {
                _ = manager.retrieveImage(with: observed.url) { result in
                    one.give((try? result.get()) != nil)
                }
                _ = manager.retrieveImages(with: sources) { result in
                    set.give((try? result.get().count) ?? 0)
                }
            }
            // What began in it may end later.
            span.end()
            let (isThere, count) = await (one.value, set.value)
            #expect(isThere && count == 2)
        }
        #expect(observed.requests(below: span).count == 3)
        #expect(observed.roots.map(\.operationName) == ["click"])
    }

    @Test func requestsThatShareADownloadStayInTheirTraces() async throws {
        let waiting = observed.manager.events
        let spans = (0..<3).map { observed.tracer.startSpan("page \($0)") }
        try await observed.observeSlow { slow, gate in
            let loading = spans.map { span in
                ServiceContext.$current.withValue(span.context) {
                    Task { try await observed.retrieve([], slow) }
                }
            }
            await observed.wait(forWaiting: spans.count, in: waiting)
            gate.open()
            for task in loading { _ = try await task.value }
        }
        #expect(observed.origin.requestCount(for: "/slow.png") == 1)
        for span in spans {
            let requests = observed.requests(below: span)
            #expect(requests.count == 1)
            #expect(requests.first?.traceID == span.context.inMemorySpanContext?.traceID)
        }
        #expect(observed.times(ofStage: "decode") == 1)
        #expect(observed.times(ofStage: "fetch") == spans.count)
    }

    @Test func nothingIsMadeWithoutAnObservation() async throws {
        #expect(!observed.manager.eventHub.isObserved)
        try await observed.observe { #expect(observed.manager.eventHub.isObserved) }
        #expect(!observed.manager.eventHub.isObserved)
        try await observed.retrieve()
        #expect(observed.metrics.counters.isEmpty && observed.metrics.timers.isEmpty)
        #expect(observed.tracer.finishedSpans.isEmpty && observed.tracer.activeSpans.isEmpty)
    }

    @Test func anObservationThatNobodyRunsIsForgotten() {
        var observation: ImageObservation? = ImageObservation(
            of: observed.manager, metrics: nil, tracer: nil)
        #expect(observation != nil && observed.manager.eventHub.isObserved)
        observation = nil
        #expect(!observed.manager.eventHub.isObserved)
    }

    @Test func eitherHalfCanBeLeftOut() async throws {
        let observations = [
            ImageObservation(of: observed.manager, metrics: observed.metrics, tracer: nil),
            ImageObservation(of: observed.manager, metrics: nil, tracer: observed.tracer),
        ]
        let tasks = observations.map { observation in Task { await observation.run() } }
        try await observed.retrieve()
        for task in tasks {
            task.cancel()
            await task.value
        }
        #expect(observed.metrics.counterTotal(label: "halcyon_requests_total") == 1)
        #expect(observed.roots.count == 1)
    }

    @Test func whatIsUnderWayEndsWithTheObservation() async throws {
        let loading = Locked<Task<RetrieveImageResult, any Error>?>(nil)
        try await observed.observeSlow(.status(404)) { slow, _ in
            loading.set(Task { try await observed.retrieve([], slow) })
            await observed.origin.waitForRequests(1, path: "/slow.png")
        }
        #expect(observed.roots.count == 1 && observed.tracer.activeSpans.isEmpty)
        #expect(observed.roots.first?["halcyon.result"] == nil)
        _ = await loading.value?.result
    }

    @Test func whatMayBeSecretInAURLIsInNoSpan() async throws {
        let text = "http://anna:geheim@127.0.0.1:\(observed.origin.port)/photo.png?token=geheim"
        let url = try #require(URL(string: text))
        try await observed.observe { try await observed.retrieve([], url) }
        #expect(try #require(observed.roots.first)["url.path"] == "/photo.png")
        for span in observed.tracer.finishedSpans {
            span.attributes.forEach { #expect(!"\($1)".contains("geheim"), "\($0)") }
        }
    }

    @Test func aFileThatIsWrittenAfterTheEndIsInTheTraceAllTheSame() async throws {
        observed.manager.defaultOptions = []
        let told = Recorder<ImageEvent>()
        try await observed.observe {
            try await observed.retrieve([.onEvent { told.record($0) }])
            await told.wait { events in
                events.contains { if case .stored(.disk) = $0.kind { true } else { false } }
            }
        }
        let root = try #require(observed.roots.first)
        #expect(
            observed.children(of: root).count { $0.operationName == "halcyon.cache.write" } == 1)
        #expect(observed.times(ofStage: "store") == 1)
    }
}
