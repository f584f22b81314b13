import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

/// Runs the code of the guide to HTTP caching.
@Suite struct HTTPCachingSnippetTests {
    let fixture: FreshnessFixture

    init() async throws {
        fixture = try await FreshnessFixture()
    }

    private var url: URL { fixture.origin.url("/a.png") }

    @Test func usersDoNotShareAnswers() async throws {
        fixture.serve(30)
        for user in ["anna", "berta"] {
            let result = try await HTTPCachingSnippets.users(fixture.manager, url, userName: user)
            #expect("\(try #require(result.httpCacheUse))" == "fetched(stored: true)")
        }
        #expect(fixture.count == 2)
    }

    @Test func theResultTellsHowTheImageCameAbout() async throws {
        func story() async throws -> String {
            try await HTTPCachingSnippets.request(fixture.manager, url)
        }
        let answers = Recorder<HTTPRevalidation>()
        fixture.manager.defaultOptions += [
            .callbackQueue(.untouch), .onHTTPRevalidation { answers.record($0) },
        ]
        fixture.serve(30, "max-age=60, stale-while-revalidate=60", tag: "\"1\"")
        #expect(try await story() == "sent by the server")
        #expect(try await story() == "cached, and the server was not asked")
        fixture.pass(90)
        #expect(try await story() == "cached, and its time is over")
        // The answer to the question in the background would take the next line back.
        await answers.waitFor(count: 1)
        #expect(try await fixture.got() == "30 fresh")
        try await fixture.cache.invalidateResponses(forKey: url.absoluteString)
        #expect(try await story() == "cached, and the server says that it is still good")
    }

    @Test func aManagerFollowsTheRulesByDefault() async throws {
        fixture.serve(30)
        fixture.manager.defaultOptions = []
        #expect(try await fixture.got() == "30 -")
        HTTPCachingSnippets.manager(fixture.manager)
        #expect(try await fixture.got() == "30 fetched")
    }

    @Test func aStaleImageIsDeliveredWhereTheSettingsAllowIt() async throws {
        let answers = Recorder<HTTPRevalidation>()
        let settings: KingfisherOptionsInfo = [
            .httpCaching(HTTPCachingSnippets.settings()), .callbackQueue(.untouch),
            .onHTTPRevalidation { answers.record($0) },
        ]
        fixture.serve(30, "max-age=60", tag: "\"1\"")
        #expect(try await fixture.got(settings) == "30 fetched")
        fixture.pass(120)
        #expect(try await fixture.got(settings) == "30 stale revalidating")
        // Who asks while the question in the background is under way shares its answer.
        await answers.waitFor(count: 1)
        fixture.pass(60 + 700)
        fixture.origin.route("/a.png", .status(500))
        #expect(try await fixture.got(settings) == "30 stale error")
    }

    @Test func aChangeIsTold() async throws {
        let (shown, reported) = (Recorder<Image>(), Recorder<KingfisherError>())
        let options = HTTPCachingSnippets.event(
            HTTPCachingSnippets.settings(), show: { shown.record($0) },
            report: { reported.record($0) })
        fixture.serve(30, "max-age=60", tag: "\"1\"")
        _ = try await fixture.get(options)
        fixture.pass(120)
        fixture.serve(40, "max-age=60", tag: "\"2\"")
        #expect(try await fixture.got(options) == "30 stale revalidating")
        #expect(await shown.waitFor(count: 1)[0].pixelSize.width == 40)
        fixture.pass(120)
        fixture.origin.route("/a.png", .status(500))
        #expect(try await fixture.got(options) == "40 stale revalidating")
        #expect(await reported.waitFor(count: 1)[0].isInvalidResponseStatusCode(500))
    }

    @MainActor @Test func aViewShowsTheChange() async throws {
        let caching = HTTPCachingSnippets.settings()
        fixture.manager.defaultOptions = [.waitForCache]
        fixture.serve(30, "max-age=60", tag: "\"1\"")
        _ = try await fixture.get([.httpCaching(caching)])
        fixture.pass(120)
        fixture.serve(40, "max-age=60", tag: "\"2\"")
        let clock = ManualClock()
        let view = HeadlessImageView(clock: clock)
        let notes = Recorder<String>()
        HTTPCachingSnippets.view(url, fixture.cache, fixture.downloader, caching, view) {
            notes.record($0)
        }
        // The change comes with the transition; the stale image, from memory, has none.
        await clock.waitForSleepers()
        clock.advance(by: .seconds(0.3))
        #expect(await notes.waitFor(count: 1)[0].hasPrefix("changed"))
        #expect(view.image?.pixelSize.width == 40)
    }

    @Test func offlineTheStaleImageIsGood() async throws {
        fixture.serve(30, tag: "\"1\"")
        _ = try await fixture.get()
        fixture.pass(3600)
        let image = try await HTTPCachingSnippets.offline(fixture.manager, url)
        #expect(image.pixelSize.width == 30)
        #expect(fixture.count == 1)
    }

    @Test func aMissingImageIsRemembered() async throws {
        let options: KingfisherOptionsInfo = [.httpCaching(HTTPCachingSnippets.negative())]
        for _ in 0..<2 {
            await #expect(throws: KingfisherError.self) { try await fixture.get(options) }
        }
        #expect(fixture.count == 1)
        fixture.pass(31)
        await #expect(throws: KingfisherError.self) { try await fixture.get(options) }
        #expect(fixture.count == 2)
    }

    @Test func aRetryWaitsLonger() {
        let strategy = HTTPCachingSnippets.retry()
        #expect(strategy.maxRetryCount == 4 && strategy.maximumRetryAfter == 120)
    }

    @Test func aPauseIsToldAndHonored() async throws {
        fixture.origin.route("/a.png", .status(503).header("Retry-After", "60"))
        await #expect(throws: KingfisherError.self) { try await fixture.get() }
        let end = HTTPCachingSnippets.pause(fixture.downloader, url)
        #expect(end == fixture.clock.value + 60)
        await #expect(throws: KingfisherError.self) { try await fixture.get() }
        #expect(fixture.count == 1)
    }

    @Test func signaturesDoNotBelongToTheKey() async throws {
        fixture.serve(30)
        for signature in ["a", "b"] {
            let url = fixture.origin.url("/a.png?X-Amz-Signature=\(signature)")
            let isCached = try await HTTPCachingSnippets.signed(
                fixture.manager, fixture.cache, url)
            #expect(isCached)
        }
        #expect(fixture.count == 1)
    }

    @Test func downloadsAreResumed() {
        HTTPCachingSnippets.resume(fixture.downloader)
        #expect(fixture.downloader.resumption?.sizeLimit == 104_857_600)
    }

    @Test func aResponseIsLookedAtAndInvalidated() async throws {
        fixture.serve(30, tag: "\"1\"")
        #expect(try await HTTPCachingSnippets.look(fixture.cache, url) == nil)
        _ = try await fixture.get()
        let summary = try await HTTPCachingSnippets.look(fixture.cache, url)
        #expect(summary?.hasPrefix("200, fresh until ") == true)
        #expect(summary?.hasSuffix("tag \"1\"") == true)
        #expect(try await fixture.got() == "30 fresh")
        try await HTTPCachingSnippets.invalidate(fixture.cache, url)
        #expect(try await fixture.got() == "30 validated")
    }
}
