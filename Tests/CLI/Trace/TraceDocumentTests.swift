import Foundation
import Testing

@testable import Halcyon
@testable import HalcyonCLI

struct TraceDocumentTests {
    /// The parts of a download, in microseconds: begin and length.
    private func spans(tls: Duration?) throws -> [String: [Double]] {
        let start = ContinuousClock.now
        func after(_ milliseconds: Int) -> ContinuousClock.Instant {
            start + .milliseconds(milliseconds)
        }
        let times = ExchangeTimes(
            start: start, sent: after(60), answered: after(80), isConnectionReused: false,
            connecting: .init(nameLookup: .milliseconds(10), tcp: .milliseconds(20), tls: tls))
        let metrics = NetworkMetrics(
            .init(
                start: start, end: after(100), times: times, sentByteCount: 0,
                receivedByteCount: 5, statusCode: 200, redirectCount: 0))
        return try self.spans(
            [
                (.started, 0), (.waiting, 0), (.transferred(byteCount: 5, metrics), 100),
                (.succeeded(.none), 110),
            ], since: start)
    }

    /// What a request did, by the milliseconds of its events.
    private func spans(
        _ kinds: [(ImageEvent.Kind, Int)], since start: ContinuousClock.Instant = .now
    ) throws -> [String: [Double]] {
        let url = try #require(URL(string: "https://example.com/a.png"))
        let events = kinds.map { kind, milliseconds in
            ImageEvent(
                request: ImageEvent.RequestID(number: 1), source: url.convertToSource(),
                time: start + .milliseconds(milliseconds), kind: kind)
        }
        let text = TraceDocument(events).text
        let object = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
        let lines = try #require(object?["traceEvents"] as? [[String: Any]])
        return lines.reduce(into: [:]) { spans, line in
            guard line["ph"] as? String == "X", let name = line["name"] as? String else { return }
            spans[name] = ["ts", "dur"].compactMap { line[$0] as? Double }.map { $0.rounded() }
        }
    }

    @Test func thePartsOfConnectingFollowEachOtherAndTLSIsTheLast() throws {
        let spans = try spans(tls: .milliseconds(30))
        #expect(spans["name"] == [0, 10_000] && spans["connect"] == [10_000, 50_000])
        #expect(spans["TLS"] == [30_000, 30_000] && spans["answer"] == [60_000, 20_000])
        #expect(spans["body"] == [80_000, 20_000] && spans["request"] == [0, 110_000])
    }

    @Test func withoutTLSNoneIsDrawn() throws {
        let spans = try spans(tls: nil)
        #expect(spans["TLS"] == nil && spans["connect"] == [40_000, 20_000])
    }

    @Test func whatIsLookedUpAndWrittenHasItsTime() throws {
        let spans = try spans([
            (.started, 0), (.waiting, 4), (.transferred(byteCount: 5, nil), 10),
            (.stored(.memory), 12), (.succeeded(.none), 12), (.stored(.disk), 20),
        ])
        #expect(spans["look up"] == [0, 4_000] && spans["transfer"] == [4_000, 6_000])
        #expect(spans["request"] == [0, 12_000] && spans["store on disk"] == [12_000, 8_000])
    }

    /// A transfer that brought nothing took its time all the same.
    @Test(arguments: [true, false]) func aTransferThatWasGivenUpIsDrawn(_ isFailure: Bool) throws {
        let end: ImageEvent.Kind =
            isFailure ? .failed(.requestError(reason: .emptyRequest)) : .cancelled
        let spans = try spans([(.started, 0), (.waiting, 1), (end, 50)])
        #expect(spans["transfer"] == [1_000, 49_000] && spans["request"] == [0, 50_000])
    }
}
