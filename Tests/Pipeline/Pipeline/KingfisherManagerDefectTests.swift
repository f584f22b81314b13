import Dispatch
import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

/// What requests do where Kingfisher's go wrong.
@Suite struct KingfisherManagerDefectTests {
    private let fixture: ManagerFixture

    init() async throws {
        fixture = try await ManagerFixture()
    }

    /// Defect: D-2
    @Test func aShellCancelledBeforeThereIsADownloadSendsNothing() async throws {
        let gate = Gate()
        let results = Recorder<Result<RetrieveImageResult, KingfisherError>>()
        let task = fixture.manager.retrieveImage(
            with: fixture.url,
            options: [
                .asyncCacheTypeCheck, .requestModifier(HeldModifier(gate: gate)),
                .callbackQueue(.untouch),
            ]
        ) { results.record($0) }
        let shell = try #require(task)
        await gate.waitForWaiters(1)
        #expect(!shell.isInitialized)
        shell.cancel()
        guard case .failure(let error) = await results.waitFor(count: 1)[0] else {
            Issue.record("expected a cancellation")
            return
        }
        #expect(error.isCancelled)
        gate.open()
        #expect(fixture.origin.requestCount == 0)
        #expect(!fixture.cache.isCached(forKey: fixture.url.cacheKey))
    }

    /// Defect: D-2
    @Test func aShellCancelledDuringTheProbeSendsNothing() async throws {
        // Or it has been sent already, when this thread was held up.
        fixture.origin.route("/photo.png", .png(fixture.png).with(.wait(.gate(Gate()))))
        let results = Recorder<Result<RetrieveImageResult, KingfisherError>>()
        let task = fixture.manager.retrieveImage(
            with: fixture.url, options: [.asyncCacheTypeCheck, .callbackQueue(.untouch)]
        ) { results.record($0) }
        try #require(task).cancel()
        guard case .failure(let error) = await results.waitFor(count: 1)[0] else {
            Issue.record("expected a cancellation")
            return
        }
        #expect(error.isCancelled)
    }

    /// Defect: D-3, D-23
    @Test(arguments: [false, true])
    func aRequestCompletesThoughItsManagerAndDownloaderAreGone(probingApart: Bool) async throws {
        let gate = Gate()
        fixture.origin.route("/slow.png", .png(fixture.png).with(.wait(.gate(gate))))
        let results = Recorder<CacheType?>()
        weak var released: KingfisherManager?
        do {
            let manager = KingfisherManager(
                downloader: ImageDownloader.patient("short"), cache: fixture.cache)
            manager.retrieveImage(
                with: fixture.origin.url("/slow.png"),
                options: [.callbackQueue(.untouch)]
                    + (probingApart ? [.asyncCacheTypeCheck] : [])
            ) { results.record(try? $0.get().cacheType) }
            released = manager
        }
        #expect(released == nil)
        gate.open()
        #expect(await results.waitFor(count: 1) == [CacheType.none])
    }

    /// Defect: D-23
    @Test func anOriginalIsProcessedThoughTheManagerIsGone() async throws {
        try await fixture.cache.storeToDisk(fixture.png, forKey: fixture.url.cacheKey)
        let results = Recorder<PixelSize?>()
        do {
            let manager = KingfisherManager(
                downloader: ImageDownloader.patient("short"), cache: fixture.cache)
            manager.retrieveImage(
                with: fixture.url,
                options: [.processor(CountingProcessor()), .callbackQueue(.untouch)]
            ) { results.record(try? $0.get().image.pixelSize) }
        }
        #expect(await results.waitFor(count: 1) == [PixelSize(width: 3, height: 2)])
    }

    /// Defect: D-10
    @Test(.holdingThreads) func aCacheHitDoesNotWaitForTheMainQueue() async throws {
        _ = try await fixture.retrieve()
        fixture.cache.clearMemoryCache()
        let isHeld = Recorder<Void>()
        let held = DispatchSemaphore(value: 0)
        DispatchQueue.main.async {
            isHeld.record(())
            held.wait()
        }
        defer { held.signal() }
        await isHeld.waitFor(count: 1)
        let queue = DispatchQueue(label: "callbacks")
        for callbackQueue in [CallbackQueue.dispatch(queue), .untouch] {
            let types = Recorder<CacheType?>()
            fixture.manager.retrieveImage(
                with: fixture.url, options: [.callbackQueue(callbackQueue)]
            ) { types.record(try? $0.get().cacheType) }
            #expect(await types.waitFor(count: 1) == [.disk])
            fixture.cache.clearMemoryCache()
        }
    }

    /// Defect: D-12
    @Test func aModifierThatReturnsNothingStopsTheRequest() async {
        let result = await fixture.retrieveByCallback([
            .requestModifier(AnyModifier { _ in nil })
        ])
        #expect(result.errorCode == 1001)
        #expect(fixture.origin.requestCount == 0)
    }

    /// Defect: D-24
    @Test func theRedirectHandlerOfTheFirstCallerDecides() async throws {
        let gate = Gate()
        fixture.origin.route(
            "/moved.png", .redirect(to: "/photo.png").with(.wait(.gate(gate))))
        let asked = Recorder<Int>()
        let results = Recorder<Int?>()
        for caller in 1...3 {
            let handler = AnyRedirectHandler { _, _, request, reply in
                asked.record(caller)
                reply(request)
            }
            fixture.manager.retrieveImage(
                with: fixture.origin.url("/moved.png"),
                options: [.redirectHandler(handler), .callbackQueue(.untouch)]
            ) { results.record(try? $0.get().image.pixelSize.width) }
        }
        gate.open()
        #expect(await results.waitFor(count: 3) == [64, 64, 64])
        #expect(asked.events == [1])
        #expect(fixture.origin.requestCount(for: "/photo.png") == 1)
    }
}
