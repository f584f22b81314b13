import Foundation
import Testing

@testable import Halcyon
@testable import HalcyonGallery

/// The bars of the latest requests, of events with times made up.
@Suite struct RequestChartTests {
    /// What is told of requests, by their numbers, so many milliseconds after the start.
    private typealias Story = [(request: UInt64, milliseconds: Int, kind: ImageEvent.Kind)]

    private let start = ContinuousClock.now

    private func chart(of story: Story) -> RequestChart {
        var chart = RequestChart(limit: 3)
        for (request, milliseconds, kind) in story {
            chart.take(
                ImageEvent(
                    request: ImageEvent.RequestID(number: request),
                    source: .provider(RawImageDataProvider(data: Data(), cacheKey: "a")),
                    time: start + .milliseconds(milliseconds), kind: kind))
        }
        return chart
    }

    @Test func allBarsAreToTheScaleOfTheLongest() {
        let made = ImageEvent.Kind.made(
            waiting: .milliseconds(5), processing: .milliseconds(5), rendering: .milliseconds(10))
        let chart = chart(of: [
            (1, 0, .started), (1, 10, .waiting), (1, 80, .transferred(byteCount: 9, nil)),
            (1, 100, made), (1, 100, .succeeded(.none)), (2, 40, .started), (2, 90, .found(.disk)),
            (2, 90, .succeeded(.disk)),
        ])
        #expect(chart.longest == .milliseconds(100))
        let expected: [[(ImageStage, Double, Double)]] = [
            [
                (.lookup, 0, 0.1), (.fetch, 0.1, 0.8), (.queue, 0.8, 0.85), (.process, 0.85, 0.9),
                (.decode, 0.9, 1),
            ],
            [(.lookup, 0, 0.5)],
        ]
        #expect(chart.bars.map { $0.map(\.stage) } == expected.map { $0.map { $0.0 } })
        for (part, place) in zip(chart.bars.joined(), expected.joined()) {
            #expect(abs(part.begin - place.1) < 1e-9 && abs(part.end - place.2) < 1e-9)
        }
    }

    @Test func imagesFromMemoryHaveNoBar() {
        let chart = chart(of: [
            (1, 0, .started), (1, 0, .found(.memory)), (1, 0, .succeeded(.memory)),
        ])
        #expect(chart.bars.isEmpty && chart.longest == .zero)
    }

    @Test func theOldestArePushedOut() {
        let story: Story = (1...5).flatMap { number -> Story in
            [
                (UInt64(number), 10 * number, .started),
                (UInt64(number), 10 * number + number, .waiting),
            ]
        }
        // Of one that has been pushed out nothing more is heard.
        let chart = chart(of: story + [(1, 500, .transferred(byteCount: 9, nil))])
        #expect(chart.bars.count == 3 && chart.longest == .milliseconds(5))
    }

    @Test func whatWasWaitedForInVainIsThereToo() {
        let chart = chart(of: [(1, 0, .started), (1, 1, .waiting), (1, 4, .cancelled)])
        #expect(chart.bars.map { $0.map(\.stage) } == [[.lookup, .fetch]])
        #expect(chart.bars.joined().last?.end == 1)
    }
}
