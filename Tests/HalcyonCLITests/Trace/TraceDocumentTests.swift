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
        let metrics = NetworkMetrics(
            start: start, end: after(100),
            times: ExchangeTimes(
                start: start, sent: after(60), answered: after(80), isConnectionReused: false,
                connecting: .init(
                    nameLookup: .milliseconds(10), tcp: .milliseconds(20), tls: tls)),
            sentByteCount: 0, receivedByteCount: 5, statusCode: 200, redirectCount: 0)
        let url = try #require(URL(string: "https://example.com/a.png"))
        let request = ImageEvent.RequestID(number: 1)
        func event(_ kind: ImageEvent.Kind, _ milliseconds: Int) -> ImageEvent {
            ImageEvent(
                request: request, source: url.convertToSource(), time: after(milliseconds),
                kind: kind)
        }
        let text = TraceDocument([
            event(.started, 0), event(.waiting, 0),
            event(.transferred(byteCount: 5, metrics), 100), event(.succeeded(.none), 110),
        ]).text
        let object = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
        let events = try #require(object?["traceEvents"] as? [[String: Any]])
        return events.reduce(into: [:]) { spans, event in
            guard event["ph"] as? String == "X", let name = event["name"] as? String else { return }
            spans[name] = ["ts", "dur"].compactMap { event[$0] as? Double }.map { $0.rounded() }
        }
    }

    @Test func thePartsOfConnectingFollowEachOtherAndTLSIsTheLast() throws {
        let spans = try spans(tls: .milliseconds(30))
        #expect(spans["name"] == [0, 10_000])
        #expect(spans["connect"] == [10_000, 50_000])
        #expect(spans["TLS"] == [30_000, 30_000])
        #expect(spans["answer"] == [60_000, 20_000])
        #expect(spans["body"] == [80_000, 20_000])
        #expect(spans["request"] == [0, 110_000])
    }

    @Test func withoutTLSNoneIsDrawn() throws {
        let spans = try spans(tls: nil)
        #expect(spans["TLS"] == nil)
        #expect(spans["connect"] == [40_000, 20_000])
    }
}
