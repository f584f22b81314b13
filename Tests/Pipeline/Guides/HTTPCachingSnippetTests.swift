import Foundation
import Halcyon
import HalcyonTestKit
import Testing

/// The code of the guide to HTTP caching, as in `GuideSnippetTests`.
@Suite struct HTTPCachingSnippetTests {
    let fixture: FreshnessFixture

    init() async throws { fixture = try await FreshnessFixture() }

    private var manager: KingfisherManager { fixture.manager }
    private var cache: ImageCache { fixture.cache }
    private var downloader: ImageDownloader { fixture.downloader }
    private var url: URL { fixture.url() }

    @Test func usersDoNotShareAnswers() async throws {
        fixture.serve(30)
        let userName = "anna"
        // guide: http-caching/users
        var caching = HTTPCaching.on
        caching.partition = userName
        let result = try await manager.retrieveImage(with: url, options: [.httpCaching(caching)])
        // end
        #expect("\(try #require(result.httpCacheUse))" == "fetched(stored: true)")
        caching.partition = "berta"
        #expect(try await fixture.got([.httpCaching(caching)]) == "30 fetched")
        #expect(fixture.count == 2)
    }

    @Test func theResultTellsHowTheImageCameAbout() async throws {
        func story() async throws -> String {
            // guide: http-caching/request
            let result = try await manager.retrieveImage(with: url, options: [.httpCaching(.on)])
            let story =
                switch result.httpCacheUse {
                case .fetched: "sent by the server"
                case .fresh: "cached, and the server was not asked"
                case .validated: "cached, and the server says that it is still good"
                case .stale: "cached, and its time is over"
                case nil: "not loaded by the rules of HTTP"
                }
            // end
            return story
        }
        fixture.serve(30, tag: "\"1\"")
        #expect(try await story() == "sent by the server")
        #expect(try await story() == "cached, and the server was not asked")
        fixture.pass(90)
        #expect(try await story() == "cached, and the server says that it is still good")
    }

    @Test func aManagerFollowsTheRulesByDefault() async throws {
        fixture.serve(30)
        manager.defaultOptions = []
        #expect(try await fixture.got() == "30 -")
        // guide: http-caching/manager
        manager.defaultOptions = [.httpCaching(.on)]
        // end
        #expect(try await fixture.got() == "30 fetched")
    }

    private var settings: HTTPCaching {
        // guide: http-caching/settings
        var caching = HTTPCaching.on
        caching.staleWhileRevalidate = .upTo(600)
        caching.staleIfError = .upTo(86_400)
        caching.heuristicFraction = 0
        // end
        return caching
    }

    @Test func aStaleImageIsDeliveredWhereTheSettingsAllowIt() async throws {
        let settings = fixture.listening + [.httpCaching(settings)]
        fixture.serve(30, "max-age=60", tag: "\"1\"")
        #expect(try await fixture.got(settings) == "30 fetched")
        fixture.pass(120)
        #expect(try await fixture.got(settings) == "30 stale revalidating")
        // Who asks while the question in the background is under way shares its answer.
        await fixture.findings.waitFor(count: 1)
        fixture.pass(60 + 700)
        fixture.origin.route("/a.png", .status(500))
        #expect(try await fixture.got(settings) == "30 stale error")
    }

    @Test func aChangeIsTold() async throws {
        let shown = Recorder<Image>()
        let show: @Sendable (Image) -> Void = { shown.record($0) }
        let report: @Sendable (KingfisherError) -> Void = { Issue.record($0) }
        let caching = settings
        // guide: http-caching/event
        let options: KingfisherOptionsInfo = [
            .httpCaching(caching),
            .onHTTPRevalidation { found in
                switch found {
                case .unchanged: break
                case .changed(let result): show(result.image)
                case .failed(let error): report(error)
                }
            },
        ]
        // end
        fixture.serve(30, "max-age=60", tag: "\"1\"")
        _ = try await fixture.get(options)
        fixture.pass(120)
        fixture.serve(40, "max-age=60", tag: "\"2\"")
        #expect(try await fixture.got(options) == "30 stale revalidating")
        #expect(await shown.waitFor(count: 1)[0].pixelSize.width == 40)
    }

    @MainActor @Test func aViewShowsTheChange() async throws {
        let caching = settings
        manager.defaultOptions = [.waitForCache]
        fixture.serve(30, "max-age=60", tag: "\"1\"")
        _ = try await fixture.get([.httpCaching(caching)])
        fixture.pass(120)
        fixture.serve(40, "max-age=60", tag: "\"2\"")
        let clock = ManualClock()
        let imageView = HeadlessImageView(clock: clock)
        let notes = Recorder<String>()
        let note: @MainActor @Sendable (String) -> Void = { notes.record($0) }
        // guide: http-caching/view
        KF.url(url)
            .targetCache(cache)
            .downloader(downloader)
            .httpCaching(caching)
            .transition(.fade(0.3))
            .onRevalidated { found in note("\(found)") }
            .set(to: imageView)
        // end
        // The change comes with the transition; the stale image, from memory, has none.
        await clock.waitForSleepers()
        clock.advance(by: .seconds(0.3))
        #expect(await notes.waitFor(count: 1)[0].hasPrefix("changed"))
        #expect(imageView.image?.pixelSize.width == 40)
    }

    @Test func offlineTheStaleImageIsGood() async throws {
        fixture.serve(30, tag: "\"1\"")
        _ = try await fixture.get()
        fixture.pass(3600)
        // guide: http-caching/offline
        let image = try await manager.retrieveImage(
            with: url, options: [.httpCaching(.on), .onlyFromCache]
        ).image
        // end
        #expect(image.pixelSize.width == 30)
        #expect(fixture.count == 1)
    }

    @Test func aMissingImageIsRemembered() async throws {
        // guide: http-caching/negative
        var caching = HTTPCaching.on
        caching.negative = .on(statuses: [404, 410], lifetime: 30, limit: 300)
        // end
        let options: KingfisherOptionsInfo = [.httpCaching(caching)]
        for _ in 0..<2 {
            await #expect(throws: KingfisherError.self) { try await fixture.get(options) }
        }
        #expect(fixture.count == 1)
    }

    @Test func aPauseIsToldAndHonored() async throws {
        fixture.origin.route("/a.png", .status(503).header("Retry-After", "60"))
        await #expect(throws: KingfisherError.self) { try await fixture.get() }
        // guide: http-caching/pause
        downloader.honorsServerPause = true
        let end = downloader.serverPause(for: url)
        // end
        #expect(end == fixture.clock.value + 60)
        await #expect(throws: KingfisherError.self) { try await fixture.get() }
        #expect(fixture.count == 1)
    }

    @Test func signaturesDoNotBelongToTheKey() async throws {
        fixture.serve(30)
        for signature in ["a", "b"] {
            let url = fixture.url("/a.png?X-Amz-Signature=\(signature)")
            // guide: http-caching/signed
            let result = try await manager.retrieveImage(
                with: url, options: [.httpCaching(.on), .cacheKeyNormalizer(.signedURLs)])
            let isCached = cache.isCached(forKey: CacheKeyNormalizer.signedURLs.key(for: url))
            // end
            #expect(isCached && result.image.pixelSize.width == 30)
        }
        #expect(fixture.count == 1)
    }

    @Test func aResponseIsLookedAtAndInvalidated() async throws {
        fixture.serve(30, tag: "\"1\"")
        _ = try await fixture.get()
        // guide: http-caching/look
        let response = try await cache.httpResponse(forKey: url.absoluteString)
        let summary = response.map { response in
            let tag = response.value(of: "ETag") ?? "none"
            return "\(response.status), fresh until \(response.freshUntil), tag \(tag)"
        }
        // end
        #expect(summary?.hasPrefix("200, fresh until ") == true)
        #expect(summary?.hasSuffix("tag \"1\"") == true)
        #expect(try await fixture.got() == "30 fresh")
        // guide: http-caching/invalidate
        try await cache.invalidateResponses(forKey: url.absoluteString)
        try await cache.invalidateResponses(matching: "https://example.org/avatars/*")
        // end
        #expect(try await fixture.got() == "30 validated")
    }
}
