import Foundation
import FoundationNetworking
import HalcyonTestKit
import HalcyonWork
import Testing

@testable import Halcyon

/// What options that concern requests, downloads and their callbacks mean with HTTP caching.
@Suite struct FreshnessRequestTests {
    private let fixture: FreshnessFixture

    init() async throws { fixture = try await FreshnessFixture() }

    // MARK: Which requests are sent

    @Test func forceRefreshLeavesACacheControlOfTheRequestsOwn() async throws {
        let fixture = try await FreshnessFixture.aged()
        let modifier = setting(["Cache-Control": "max-age=5"])
        #expect(try await fixture.got([.forceRefresh, .requestModifier(modifier)]) == "3 fetched")
        #expect(fixture.origin.requests.last?.headers["Cache-Control"] == "max-age=5")
    }

    @Test func forceRefreshUsesNoStaleImage() async throws {
        let fixture = try await FreshnessFixture.aged("max-age=60, stale-if-error=6000")
        fixture.serve(3, tag: "\"1\"", [.abort(.reset)])
        #expect(await fixture.errorCode([.forceRefresh]) == 2003)
        #expect(try await fixture.got() == "3 stale error")
    }

    @Test func forceRefreshAsksThoughAnErrorIsRemembered() async throws {
        let fixture = try await FreshnessFixture(.on.with { $0.negative = .on() })
        fixture.origin.route("/a.png", .status(404))
        #expect(await fixture.errorCode() == 2002)
        fixture.serve(3)
        #expect(await fixture.errorCode() == 2002)
        #expect(try await fixture.got([.forceRefresh]) == "3 fetched")
        #expect(try await fixture.got() == "3 fresh")
    }

    @Test func forceRefreshGoesOnWithADownloadThatBrokeOff() async throws {
        fixture.downloader.resumption = DownloadResumption(
            directory: fixture.folder.file("partials"), minimumSize: 1)
        fixture.serve(8, tag: "\"1\"", [.ranges, .breakOff(afterBytes: 20, .close, times: 1)])
        #expect(await fixture.errorCode() == 2003)
        #expect(try await fixture.got([.forceRefresh]) == "8 fetched")
        let headers = try #require(fixture.origin.requests.last?.headers)
        #expect(headers["Range"] == "bytes=20-" && headers["Cache-Control"] == "no-cache")
    }

    @Test func forceRefreshWinsOverOnlyFromCache() async throws {
        let fixture = try await FreshnessFixture.aged()
        #expect(try await fixture.got([.onlyFromCache, .forceRefresh]) == "3 fetched")
    }

    @Test func inLowDataModeNothingIsValidated() async throws {
        let fixture = try await FreshnessFixture.aged()
        fixture.serve(5, at: "/small.png")
        fixture.downloader.isLowDataModeActive = { true }
        let options: KingfisherOptionsInfo = [.lowDataMode(.network(fixture.url("/small.png")))]
        #expect(try await fixture.got(options) == "5 fetched")
        #expect(fixture.origin.requestCount(for: "/a.png") == 1)
    }

    /// Between two attempts somebody else gets the answer.
    private struct AskingElsewhere: RetryStrategy {
        let other: KingfisherManager
        let url: URL

        func retry(
            context: RetryContext, retryHandler: @escaping @Sendable (RetryDecision) -> Void
        ) {
            Task {
                _ = try? await other.retrieveImage(with: url)
                retryHandler(.retry(userInfo: nil))
            }
        }
    }

    @Test func everyAttemptIsDecidedAnew() async throws {
        let fixture = try await FreshnessFixture.aged()
        let other = try await FreshnessFixture(in: fixture.folder)
        other.pass(100)
        let good = FreshnessFixture.picture(3, tag: "\"1\"")
        fixture.origin.route("/a.png", sequence: [.status(500), good])
        let strategy = AskingElsewhere(other: other.manager, url: fixture.url())
        #expect(try await fixture.got([.retryStrategy(strategy)]) == "3 fresh")
        #expect(fixture.origin.requestCount(for: "/a.png") == 3)
    }

    @Test func alternativesAreTriedForARememberedError() async throws {
        let fixture = try await FreshnessFixture(.on.with { $0.negative = .on() })
        fixture.origin.route("/a.png", .status(404))
        fixture.serve(5, at: "/other.png")
        let options: KingfisherOptionsInfo = [
            .alternativeSources([.network(fixture.url("/other.png"))])
        ]
        #expect(try await fixture.got(options) == "5 fetched")
        #expect(try await fixture.got(options) == "5 fresh")
        #expect(fixture.origin.requestCount(for: "/a.png") == 1)
        #expect(fixture.origin.requestCount(for: "/other.png") == 1)
    }

    @Test(arguments: [
        (HTTPCaching.on, "max-age=600", true), (.shared, "max-age=600", false),
        (.shared, "max-age=600, public", true),
    ])
    func anAnsweredChallengeMakesTheRequestOneWithCredentials(
        _ caching: HTTPCaching, _ words: String, _ isStored: Bool
    ) async throws {
        let fixture = try await FreshnessFixture(caching)
        let responder = KnownPassword()
        fixture.downloader.authenticationChallengeResponder = responder
        fixture.serve(3, words, [.basicAuthentication(KnownPassword.credentials)])
        #expect(try await fixture.got() == (isStored ? "3 fetched" : "3 fetched, unstored"))
        #expect(fixture.count == 2)
        #expect(try await fixture.cache.httpResponses().map(\.status) == (isStored ? [200] : []))
        #expect(try await fixture.got() == (isStored ? "3 fresh" : "3 fetched, unstored"))
        withExtendedLifetime(responder) {}
    }

    @Test func aRevalidationInTheBackgroundIsLessUrgentThanAllElse() async throws {
        let fixture = try await FreshnessFixture.aged("max-age=60, stale-while-revalidate=600")
        let modifier = NotingPriority()
        let options = fixture.listening + [.requestModifier(modifier), .downloadPriority(0.9)]
        #expect(try await fixture.got(options) == "3 stale revalidating")
        await fixture.findings.waitFor(count: 1)
        #expect(modifier.priorities.events == [0.25])
        #expect(try await fixture.got(options, after: 6_000) == "3 validated")
        #expect(modifier.priorities.events == [0.25, 0.9])
    }

    private struct NotingPriority: ImageDownloadRequestModifier {
        let priorities = Recorder<Float>()

        func modified(for request: URLRequest) -> URLRequest? { request }

        var onDownloadTaskStarted: (@Sendable (DownloadTask?) -> Void)? {
            { [priorities] task in task.map { priorities.record($0.priority) } }
        }
    }

    // MARK: Requests that may change something

    private let posting = KingfisherOptionsInfoItem.requestModifier(
        changing { $0.httpMethod = "POST" })

    /// Answers `POST` with a status, and `GET` with a picture.
    private func answerPosts(_ status: Int) {
        let picture = FreshnessFixture.picture(3, "max-age=600", tag: "\"1\"")
        fixture.origin.route("/a.png") { request in
            guard request.method == "POST" else { return picture }
            return status == 200 ? .png(FreshnessFixture.png(3)) : .status(status)
        }
    }

    @Test(
        arguments: [("/a.png", []), ("/a.png?Signature=one", [.cacheKeyNormalizer(.signedURLs)])]
            as [(String, KingfisherOptionsInfo)])
    func aSuccessfulPostHasTheImageValidatedAndAnErrorDoesNot(
        _ path: String, _ options: KingfisherOptionsInfo
    ) async throws {
        answerPosts(500)
        #expect(try await fixture.got(options, at: path) == "3 fetched")
        #expect(await fixture.errorCode(options + [posting], at: path) == 2002)
        #expect(try await fixture.got(options, at: path) == "3 fresh")
        answerPosts(200)
        #expect(try await fixture.got(options + [posting], at: path) == "3 fetched, unstored")
        #expect(try await fixture.got(options, at: path) == "3 validated")
        #expect(try await fixture.got(options, at: path) == "3 fresh")
        #expect(fixture.origin.requests.map(\.method) == ["GET", "POST", "POST", "GET"])
    }

    @Test func aSuccessfulPostConcernsTheKeyOfTheResourceAndTheCacheOfOriginals() async throws {
        answerPosts(200)
        let originals = try ImageCache(
            name: "originals", cacheDirectoryURL: fixture.folder.file("originals"))
        let resource = KF.ImageResource(downloadURL: fixture.url(), cacheKey: "cat")
        let options: KingfisherOptionsInfo = [
            .originalCache(originals), .processor(CountingProcessor()), .cacheOriginalImage,
        ]
        func use(_ more: KingfisherOptionsInfoItem...) async throws -> String {
            let result = try await fixture.manager.retrieveImage(
                with: resource, options: options + more)
            return "\(try #require(result.httpCacheUse))"
        }
        #expect(try await use() == "fetched(stored: true)")
        #expect(try await use() == "fresh")
        #expect(try await use(posting) == "fetched(stored: false)")
        for cache in [fixture.cache, originals] {
            let response = try #require(try await cache.httpResponse(forKey: "cat"))
            #expect(response.isInvalidated)
        }
        #expect(try await use() == "validated")
        #expect(try await use() == "fresh")
    }

    // MARK: What callers and delegates are told

    @Test func aValidationReportsNoProgressAndItsMetrics() async throws {
        fixture.serve(8, tag: "\"1\"")
        let progress = Recorder<Int64>()
        func got() async throws -> RetrieveImageResult {
            try await fixture.manager.retrieveImage(with: fixture.url()) { received, _ in
                progress.record(received)
            }
        }
        let fetched = try await got()
        await progress.waitFor(count: 1)
        #expect(fetched.metrics?.httpStatusCode == 200)
        #expect(fetched.metrics?.responseBodyBytesReceived == Int64(FreshnessFixture.png(8).count))
        // All that is told of the download is told by now.
        await handedOver { hand in DispatchQueue.main.async { hand(()) } }
        progress.removeAll()
        #expect(try await got().metrics == nil, "nothing is sent")
        fixture.pass(100)
        let validated = try await got()
        #expect(validated.metrics?.httpStatusCode == 304)
        #expect(validated.metrics?.responseBodyBytesReceived == 0)
        await handedOver { hand in DispatchQueue.main.async { hand(()) } }
        #expect(progress.count == 0)
    }

    /// Has the origin serve a progressive picture, which may be held.
    private func serveProgressive(holding gate: Gate? = nil) throws {
        let jpeg = try ProgressiveFixture()
        var response = OriginResponse.ok(jpeg.data, contentType: "image/jpeg")
            .cacheControl("max-age=60").with(.entityTag("\"1\""))
        if let gate { response = response.with(.hold(afterBytes: jpeg.scanEnds[4], .gate(gate))) }
        fixture.origin.route("/a.png", response)
    }

    private func progressiveRequest(telling shown: Recorder<Image?>) -> ImageRequest {
        ImageRequest(
            source: .network(fixture.url()),
            options: fixture.manager.parsedOptions([
                .progressiveJPEG(
                    ImageProgressive(isBlur: false, isFastestScan: true, scanInterval: 0))
            ]), probing: .onItsOwnThread, progressiveConsumer: { shown.record($0) })
    }

    @Test func aProgressivePictureIsNotShownOnceMoreWhenItIsValidated() async throws {
        try serveProgressive()
        _ = try await fixture.get()
        fixture.pass(100)
        let shown = Recorder<Image?>()
        let result = try await progressiveRequest(telling: shown).run().get()
        #expect("\(try #require(result.httpCacheUse))" == "validated")
        #expect(shown.count == 0)
    }

    @Test func aProgressivePictureIsShownWhileItComes() async throws {
        let gate = Gate()
        let shown = Recorder<Image?>()
        try serveProgressive(holding: gate)
        let request = progressiveRequest(telling: shown)
        async let ending = request.run()
        await shown.waitFor(count: 1)
        gate.open()
        let result = try await ending.get()
        #expect("\(try #require(result.httpCacheUse))" == "fetched(stored: true)")
        #expect(try await fixture.got() == "90 fresh")
    }

    @Test func aDelegateSeesA304AndIsAskedNothingAboutIt() async throws {
        let fixture = try await FreshnessFixture.aged()
        let delegate = RecordingDelegate()
        fixture.downloader.delegate = delegate
        func told() -> [String] { delegate.events.events.filter { $0 != "will" && $0 != "image" } }
        #expect(try await fixture.got() == "3 validated")
        #expect(told() == ["response 304", "finished"])
        delegate.events.removeAll()
        fixture.serve(4, tag: "\"2\"")
        #expect(try await fixture.got(after: 100) == "4 fetched")
        let bytes = "data \(FreshnessFixture.png(4).count)"
        #expect(told() == ["status 200", "response 200", bytes, "finished"])
    }

    @Test func aValidationIsAnnouncedLikeADownloadAndAFreshImageIsNot() async throws {
        fixture.serve(3, tag: "\"1\"")
        let tasks = Recorder<Bool>()
        func got() async throws -> String {
            let result = await handedOver { hand in
                fixture.manager.retrieveImage(
                    with: fixture.url(), options: [.callbackQueue(.untouch)],
                    downloadTaskUpdated: { tasks.record($0?.isInitialized == true) }
                ) { hand($0) }
            }
            return "\(try #require(try result.get().httpCacheUse))"
        }
        _ = try await got()
        #expect(try await got() == "fresh")
        #expect(tasks.events == [])
        fixture.pass(100)
        #expect(try await got() == "validated")
        #expect(tasks.events == [true])
    }

    // MARK: Who else loads images

    @Test func providersHaveNoHTTP() async throws {
        let bytes = FreshnessFixture.png(6)
        let file = try fixture.folder.write(bytes, to: "six.png")
        let providers: [any ImageDataProvider] = [
            RawImageDataProvider(data: bytes, cacheKey: "raw"),
            Base64ImageDataProvider(base64String: bytes.base64EncodedString(), cacheKey: "text"),
            LocalFileImageDataProvider(fileURL: file),
        ]
        for provider in providers {
            for type in [CacheType.none, .memory] {
                let result = try await fixture.manager.retrieveImage(
                    with: Source.provider(provider))
                #expect(result.image.pixelSize.width == 6)
                #expect(result.cacheType == type && result.httpCacheUse == nil)
                fixture.pass(1_000_000)
            }
        }
        #expect(try await fixture.cache.httpResponses().isEmpty)
        #expect(fixture.count == 0)
    }

    @Test func aDownloaderAloneAsksForTheWholeAndStoresNothing() async throws {
        let fixture = try await FreshnessFixture.aged()
        fixture.serve(4, tag: "\"2\"")
        let options = fixture.manager.parsedOptions([.callbackQueue(.untouch)])
        let result = try await fixture.downloader.result(fixture.url(), options).get()
        #expect(result.image.pixelSize.width == 4 && fixture.lastCondition == nil)
        let stored = try await fixture.cache.httpResponse(forKey: fixture.url().absoluteString)
        #expect(stored?.value(of: "ETag") == "\"1\"")
        #expect(try await fixture.got([.onlyFromCache]) == "3 stale accepted")
    }

    @Test func whetherAnImageIsKeptIsNotAskedOfTheServer() async throws {
        let fixture = try await FreshnessFixture.aged()
        let key = fixture.url().cacheKey
        #expect(fixture.cache.isCached(forKey: key))
        #expect(fixture.cache.imageCachedType(forKey: key) == .memory)
        fixture.cache.clearMemoryCache()
        #expect(fixture.cache.imageCachedType(forKey: key) == .disk)
        #expect(FileManager.default.fileExists(atPath: fixture.cache.cachePath(forKey: key)))
        #expect(fixture.count == 1)
    }

    @Test func setsOfImagesFollowTheSameRules() async throws {
        fixture.serve(3, tag: "\"1\"")
        fixture.serve(4, "max-age=6000", at: "/b.png")
        func got() async throws -> [String] {
            let urls: [any Resource] = [fixture.url(), fixture.url("/b.png")]
            return try await fixture.manager.retrieveImages(with: urls, options: nil).map {
                "\($0.image.pixelSize.width) \(try #require($0.httpCacheUse))"
            }
        }
        #expect(try await got() == ["3 fetched(stored: true)", "4 fetched(stored: true)"])
        #expect(try await got() == ["3 fresh", "4 fresh"])
        fixture.pass(100)
        #expect(try await got() == ["3 validated", "4 fresh"])
    }

    @Test func aPrefetcherValidatesWhatMayBeShownStaleMeanwhile() async throws {
        let fixture = try await FreshnessFixture.aged("max-age=60, stale-while-revalidate=600")
        #expect(await fixture.prefetched() == [1, 0, 0])
        #expect(fixture.count == 2 && fixture.lastCondition == "\"1\"")
        #expect(try await fixture.got() == "3 fresh")
    }

    @Test func aPrefetcherTellsFailuresFromWhatIsStillGood() async throws {
        let fixture = try await FreshnessFixture(.on.with { $0.negative = .on() })
        func prefetched(_ more: KingfisherOptionsInfoItem...) async -> [Int] {
            await fixture.prefetched(["/a.png"], more)
        }
        let (skipped, failed, completed) = ([1, 0, 0], [0, 1, 0], [0, 0, 1])
        fixture.origin.route("/a.png", .status(404))
        #expect(await prefetched() == failed)
        #expect(await prefetched() == failed, "the error is remembered")
        #expect(fixture.count == 1)
        fixture.serve(3, tag: "\"1\"")
        #expect(await prefetched(.forceRefresh) == completed)
        fixture.pass(100)
        #expect(await prefetched() == skipped)
        #expect(fixture.lastCondition == "\"1\"")
        fixture.pass(100)
        fixture.serve(3, tag: "\"1\"", [.abort(.reset)])
        #expect(await prefetched() == skipped, "the stale image is good enough")
        fixture.pass(100)
        fixture.origin.route("/a.png", .status(403))
        #expect(await prefetched() == failed)
        try await fixture.store(7)
        let before = fixture.count
        #expect(await prefetched(.alsoPrefetchToMemory) == skipped)
        #expect(fixture.count == before)
    }
}
