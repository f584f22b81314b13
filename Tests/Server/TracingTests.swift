import Foundation
import HalcyonHTTP
import HalcyonTelemetry
import HalcyonTestKit
import InMemoryTracing
import Testing
import Tracing

@testable import HalcyonServer

/// Requests to the server as spans.
@Suite(.timeLimit(.minutes(20))) struct TracingTests {
    private let tracer = TraceparentTracer()
    private let origin: OriginServer

    init() async throws {
        origin = try await OriginServer.start(files: ["/a.png": PNGFixture.green])
    }

    private func start(_ change: LiveServer.Change = { _ in }) async throws -> LiveServer {
        try await LiveServer.start(tracer: tracer) {
            $0.takeSources(of: origin)
            try change(&$0)
        }
    }

    private func target(_ path: String = "/a.png", _ options: String = "w:10") -> String {
        origin.target(path, options) + "@webp"
    }

    private func all(_ name: String) -> [FinishedInMemorySpan] {
        spans.filter { $0.operationName == name }
    }

    private var spans: [FinishedInMemorySpan] { tracer.memory.finishedSpans }
    private var requests: [FinishedInMemorySpan] { all("halcyon.request") }

    private func names(below span: FinishedInMemorySpan) -> [String] {
        spans.filter { $0.parentSpanID == span.spanID }.map(\.operationName)
    }

    @Test func aRequestIsPartOfItsClientsTrace() async throws {
        let live = try await start()
        let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
        let answer = try await live.ask(
            target(), fields: ["traceparent": "00-\(trace)-00f067aa0ba902b7-01"])
        #expect(answer.status == 200)
        await live.server.stores.results.finishWriting()
        let request = try #require(requests.first)
        #expect(request.traceID == trace && request.parentSpanID == "00f067aa0ba902b7")
        #expect(spans.allSatisfy { $0.traceID == trace })
        #expect(request.kind == .server && request.status == nil)
        let expected: [String: SpanAttribute] = [
            "http.request.method": "GET", "http.route": "processing",
            "http.response.status_code": 200, "halcyon.cache": "miss",
            "halcyon.source.format": "png", "halcyon.result.format": "webp",
            "halcyon.pixels": 50, "client.address": "127.0.0.1",
        ]
        for (name, value) in expected { #expect(request.attributes.get(name) == value, "\(name)") }
        #expect(
            Set(names(below: request)) == [
                "halcyon.source", "halcyon.cache.read", "halcyon.source.read", "halcyon.queue",
                "halcyon.decode", "halcyon.encode", "halcyon.cache.write",
            ])
        let source = try #require(all("halcyon.source").first)
        #expect(names(below: source) == ["halcyon.queue", "halcyon.fetch"])
        let fetch = try #require(all("halcyon.fetch").first)
        #expect(fetch.kind == .client)
        #expect(fetch.attributes.get("server.address") == "127.0.0.1")
        #expect(fetch.attributes.get("http.response.status_code") == 200)
        let decode = try #require(all("halcyon.decode").first)
        #expect(decode.attributes.get("halcyon.pixels") == .int64(800))
        #expect(
            decode.startInstant.nanosecondsSinceEpoch <= decode.endInstant.nanosecondsSinceEpoch)
        #expect(tracer.memory.activeSpans.isEmpty)
    }

    @Test func aHitHasNothingBelowItButTheSource() async throws {
        let live = try await start()
        for _ in 0..<2 { #expect(try await live.ask(target()).status == 200) }
        let hit = try #require(requests.last)
        #expect(requests.count == 2 && hit.attributes.get("halcyon.cache") == "hit")
        #expect(names(below: hit) == ["halcyon.source"])
        #expect(all("halcyon.fetch").count == 1)
        #expect(hit.parentSpanID == nil)
    }

    @Test func aFailureHasItsCodeAndOnlyTheServersOwnAreErrors() async throws {
        let live = try await start()
        #expect(try await live.ask(.china("nonsense:1")).status == 404)
        origin.route("/broken.png", .status(500))
        #expect(try await live.ask(target("/broken.png")).status >= 500)
        let codes = requests.map { $0.attributes.get("error.type") }
        #expect(codes.count == 2 && codes.allSatisfy { $0 != nil })
        #expect(requests.map { $0.status?.code == .error } == [false, true])
        #expect(try #require(all("halcyon.source").last).status?.code == .error)
    }

    @Test func noSignatureAndNoSecretIsInASpan() async throws {
        let live = try await start { $0.requireSignatures() }
        let url = "\(origin.url("/a.png").absoluteString)%3Ftoken=geheim"
        let signed = try #require(live.server.sign("/w:10/plain/\(url)"))
        #expect(try await live.ask(signed).status == 200)
        let signature = try #require(signed.split(separator: "/").first)
        let request = try #require(requests.first)
        let path = request.attributes.get("url.path").map { "\($0)" } ?? ""
        #expect(path.contains("/<sig>/w:10/plain/"))
        for span in spans {
            span.attributes.forEach { name, value in
                #expect(!"\(value)".contains(signature), "\(name)")
                #expect(!"\(value)".contains("geheim"), "\(name)")
            }
        }
    }

    @Test func questionsAboutHealthAreNoSpans() async throws {
        let live = try await start()
        for path in ["/live", "/ready", "/health"] {
            #expect(try await live.ask(path).status == 200)
            #expect(try await live.ask(path, operations: path != "/health").status == 200)
        }
        #expect(spans.isEmpty && tracer.memory.activeSpans.isEmpty)
    }

    @Test(arguments: [false, true])
    func serversOfSourcesAreToldOfTheTraceOnlyWhereThatIsSet(propagates: Bool) async throws {
        let live = try await start { $0.tracing.propagatesContext = propagates }
        #expect(try await live.ask(target()).status == 200)
        let fetch = try #require(all("halcyon.fetch").first)
        let told = try #require(origin.requests.first).headers["traceparent"]
        #expect(told == (propagates ? "00-\(fetch.traceID)-\(fetch.spanID)-01" : nil))
    }

    @Test func eachHopOfAFetchIsASpan() async throws {
        origin.route("/moved.png", .redirect(to: "/a.png"))
        let live = try await start()
        #expect(try await live.ask(target("/moved.png")).status == 200)
        let fetches = all("halcyon.fetch")
        #expect(fetches.map { $0.attributes.get("halcyon.hop") } == [0, 1])
        #expect(fetches.map { $0.attributes.get("http.response.status_code") } == [302, 200])
    }

    @Test func whoWaitsForTheWorkOfAnotherRequestHasTheWaitInItsTrace() async throws {
        let gate = Gate()
        origin.route("/slow.png", .png(PNGFixture.green).with(.wait(.gate(gate))))
        let live = try await start()
        async let first = live.ask(target("/slow.png"))
        async let second = live.ask(target("/slow.png", "w:2"))
        await live.server.metrics.collapsed.wait(["source"]) { $0 == 1 }
        gate.open()
        _ = try await (first, second)
        let shared = try #require(all("halcyon.shared").first)
        let fetch = try #require(all("halcyon.fetch").first)
        #expect(Set(requests.map(\.traceID)) == [shared.traceID, fetch.traceID])
        #expect(shared.traceID != fetch.traceID)
    }

    @Test func anApplicationsOwnSpanIsTheParent() async throws {
        let live = try await start()
        let asked = ServerRequest(
            method: "GET", target: "/_/w:10/plain/local:///china.jpg", fields: [:], peer: nil,
            start: .now)
        let outer = tracer.startSpan("application")
        let answer = await ServiceContext.$current.withValue(outer.context) {
            await live.server.answer(asked)
        }
        #expect(answer.status == 200)
        outer.end()
        let request = try #require(requests.first)
        #expect(request.parentSpanID == outer.spanID && request.traceID == outer.traceID)
    }

    @Test func withoutATracerNothingIsMade() async throws {
        let live = try await LiveServer.start()
        #expect(live.server.lifecycle.spans.scope.tracer == nil)
        #expect(try await live.ask(.china("w:10")).status == 200)
    }
}
