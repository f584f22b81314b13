import Foundation
import HalcyonGTKTestKit
import HalcyonSamples
import HalcyonTestKit
import Testing

@testable import Halcyon
@testable import HalcyonGallery

/// What the page on freshness tells when its buttons are used.
@MainActor @Suite(.enabled(if: TestDisplay.isAvailable), .timeLimit(.minutes(10)))
struct FreshnessPageTests {
    private let folder: TemporaryDirectory
    private let cache: ImageCache
    private let show: FreshnessShow
    private let answers = Answers()
    /// What the clock says.
    private let now = Locked(Date(timeIntervalSince1970: 1_800_000_000))

    private final class Answers {
        var count = 0
    }

    init() throws {
        folder = try TemporaryDirectory(prefix: "halcyon-freshness-page")
        cache = try ImageCache(name: "page", cacheDirectoryURL: folder.url)
        show = FreshnessShow(
            ChangingPictures(on: try SampleServer(), samples: try SamplePictures()), cache: cache,
            downloader: ImageDownloader(name: "page", transport: nil, now: { [now] in now.value })
        ) { [answers] _ in answers.count += 1 }
    }

    /// The tile of the picture whose rule has this in `Cache-Control`.
    private func tile(_ directive: String) throws -> FreshnessTile {
        let index = ChangingPictures.rules.firstIndex { $0.cacheControl.contains(directive) }
        return show.tiles[try #require(index)]
    }

    /// Asks for all pictures and waits for the answers, which the tiles of these rules tell so.
    private func ask(_ expected: [String: String]) async throws {
        let count = answers.count + show.tiles.count
        show.ask()
        while answers.count < count { await nextTurn() }
        for (directive, use) in expected { #expect(try tile(directive).use == use) }
    }

    @Test func tellsHowEachPictureCameAbout() async throws {
        try await ask([
            "max-age=10": "fetched", "no-cache": "fetched", "no-store": "fetched, not stored",
        ])
        let same = "validated: still the same"
        now.withLock { $0 += 2 }
        // By its date or by its tag.
        try await ask([
            "max-age=10": "fresh: the server was not asked", "no-cache": same,
            "stale-if-error": same, "must-revalidate": same,
        ])
        show.pictures.change()
        try await ask([
            "max-age=10": "fresh: the server was not asked", "no-cache": "fetched",
            "stale-if-error": "fresh: the server was not asked",
        ])
        now.withLock { $0 += 2 }
        try await ask(["no-cache": same, "stale-if-error": "fetched", "must-revalidate": "fetched"])
    }

    @Test func tellsAgeAndValidator() async throws {
        try await ask([
            "max-age=10": "fetched", "stale-if-error": "fetched", "no-store": "fetched, not stored",
        ])
        await show.tellAges(at: now.value + 3)
        #expect(try tile("max-age=10").age.hasPrefix("age 3 s, fresh until "))
        #expect(try tile("must-revalidate").age.hasPrefix("age 3 s, stale since "))
        #expect(try tile("max-age=10").validator == "ETag \"v1\"")
        #expect(try tile("stale-if-error").validator == "modified 14 Nov 2023 22:13:21 GMT")
        #expect(try tile("no-store").age == "no answer is kept")
    }

    @Test func aServerThatIsCutOffFails() async throws {
        try await ask(["no-cache": "fetched", "max-age=10": "fetched"])
        #expect(show.serverAction == "Cut the server off")
        show.cutOffOrBringBack()
        #expect(show.serverAction == "Bring the server back")
        try await ask([
            "no-cache": "error 2003: the server has failed",
            "no-store": "error 2003: the server has failed",
            "max-age=10": "fresh: the server was not asked",
        ])
        show.cutOffOrBringBack()
        try await ask(["no-cache": "validated: still the same"])
    }

    @Test func aStalePictureIsReplacedWhenTheServerHasAnother() async throws {
        let tile = try tile("stale-while-revalidate")
        try await ask([:])
        now.withLock { $0 += 2 }
        show.pictures.change()
        try await ask([:])
        while tile.use == "stale: being asked for" { await nextTurn() }
        #expect(tile.use == "shown stale, then replaced")
        now.withLock { $0 += 2 }
        show.cutOffOrBringBack()
        try await ask(["must-revalidate": "error 2003: the server has failed"])
        while tile.use == "stale: being asked for" { await nextTurn() }
        #expect(tile.use == "shown stale; asking has failed")
        #expect(try self.tile("stale-if-error").use == "stale: the server has failed")
    }
}

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
