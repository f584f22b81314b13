import Foundation
import HalcyonTestKit
import HalcyonWork
import Testing

@testable import Halcyon

@Suite struct ServerPauseTests {
    let fixture: ManagerFixture
    /// A downloader whose time stands still, except that it is over what is slept for.
    let downloader: ImageDownloader
    let slept = Recorder<TimeInterval>()
    let start = Date(timeIntervalSince1970: 1_800_000_000)
    private let now: Locked<Date>
    private let wakes = Locked<Gate?>(nil)

    init() async throws {
        fixture = try await ManagerFixture()
        now = Locked(start)
        downloader = ImageDownloader(
            name: "paused", transport: nil,
            serverPauses: ServerPauses { [now] in
                now.value
            } sleep: { [now, slept, wakes] seconds in
                slept.record(seconds)
                try await wakes.value?.wait()
                now.withLock { $0 += seconds }
            })
        downloader.downloadTimeout = 600
        downloader.connectTimeout = 600
    }

    private func refuse(_ path: String = "/busy.png", after seconds: String?, status: Int = 503)
        async
    {
        let response = OriginResponse.status(status)
        fixture.origin.route(path, seconds.map { response.header("Retry-After", $0) } ?? response)
        _ = await downloader.result(fixture.origin.url(path))
    }

    private var left: TimeInterval? {
        downloader.serverPause(for: fixture.url).map { $0.timeIntervalSince(start) }
    }

    @Test(arguments: [429, 503])
    func anAnswerPausesItsOrigin(status: Int) async throws {
        #expect(left == nil)
        await refuse(after: "40", status: status)
        #expect(left == 40)
        let other = try await OriginServer.start()
        #expect(downloader.serverPause(for: other.url("/photo.png")) == nil)
        now.set(start + 40)
        #expect(left == nil)
    }

    @Test func anAnswerBelow400EndsThePause() async {
        await refuse(after: "40")
        #expect(left == 40)
        #expect(await downloader.result(fixture.url).errorCode == nil)
        #expect(left == nil)
    }

    @Test func whoHonoursItFailsAtOnce() async throws {
        await refuse(after: "40")
        downloader.honorsServerPause = true
        let requests = fixture.origin.requestCount
        #expect(
            await downloader.result(fixture.url).transportError
                == .pausedByServer(url: fixture.url.absoluteString, until: start + 40))
        #expect(fixture.origin.requestCount == requests)
        now.set(start + 41)
        #expect(await downloader.result(fixture.url).errorCode == nil)
    }

    @Test func whoHonoursItIsNotRedirectedThereEither() async throws {
        await refuse(after: "40")
        downloader.honorsServerPause = true
        let other = try await OriginServer.start()
        other.route("/a.png", .redirect(to: fixture.url.absoluteString))
        #expect(
            await downloader.result(other.url("/a.png")).transportError
                == .pausedByServer(url: fixture.url.absoluteString, until: start + 40))
    }

    private func prefetcher(
        _ caching: HTTPCaching, _ url: URL? = nil,
        _ completion: @escaping @Sendable (Int, Int) -> Void
    ) -> ImagePrefetcher {
        ImagePrefetcher(
            urls: [url ?? fixture.url],
            options: [.httpCaching(caching), .targetCache(fixture.cache), .downloader(downloader)]
        ) { _, failed, completed in completion(failed.count, completed.count) }
    }

    private func prefetch(
        _ caching: HTTPCaching, _ url: URL? = nil
    ) async -> (failed: Int, completed: Int) {
        await handedOver { hand in prefetcher(caching, url) { hand(($0, $1)) }.start() }
    }

    @Test func aPrefetchWaitsForTheServerThatARedirectLeadsTo() async throws {
        await refuse(after: "40")
        let other = try await OriginServer.start()
        other.route("/a.png", .redirect(to: fixture.url.absoluteString))
        #expect(await prefetch(.on, other.url("/a.png")) == (0, 1))
        #expect(slept.events == [40])
    }

    @Test(
        arguments: [HTTPCaching.off, .on],
        [("40", 40, 1), ("100", 60, 0)] as [(String, TimeInterval, Int)])
    func aPrefetchWaitsForTheEndOfThePauseAndFailsAfterAMinute(
        _ caching: HTTPCaching, _ pause: (asked: String, slept: TimeInterval, completed: Int)
    ) async {
        await refuse(after: pause.asked)
        #expect(await prefetch(caching) == (1 - pause.completed, pause.completed))
        #expect(slept.events == [pause.slept])
        #expect(fixture.origin.requestCount(for: "/photo.png") == pause.completed)
    }

    @Test(arguments: [HTTPCaching.off, .on])
    func aStoppedPrefetchWaitsNoLonger(_ caching: HTTPCaching) async {
        await refuse(after: "40")
        wakes.set(Gate())
        let ended = OneShot<[Int]>()
        let prefetcher = prefetcher(caching) { ended.give([$0, $1]) }
        prefetcher.start()
        await slept.waitFor(count: 1)
        prefetcher.stop()
        #expect(await ended.value == [1, 0])
        #expect(fixture.origin.requestCount(for: "/photo.png") == 0)
    }
}
