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
        let request = fixture.start(
            fixture.url, [.asyncCacheTypeCheck, .requestModifier(HeldModifier(gate: gate))])
        let shell = try #require(request.task)
        await gate.waitForWaiters(1)
        #expect(!shell.isInitialized)
        shell.cancel()
        #expect(await request.result().error?.isCancelled == true)
        gate.open()
        #expect(fixture.origin.requestCount == 0)
        #expect(!fixture.cache.isCached(forKey: fixture.url.cacheKey))
    }

    /// Defect: D-2
    @Test func aShellCancelledDuringTheProbeSendsNothing() async throws {
        // Or it has been sent already, when this thread was held up.
        let request = fixture.start(fixture.hold("/photo.png").url, [.asyncCacheTypeCheck])
        try #require(request.task).cancel()
        #expect(await request.result().error?.isCancelled == true)
    }

    /// Defect: D-3, D-23
    @Test(arguments: [false, true])
    func aRequestCompletesThoughItsManagerAndDownloaderAreGone(probingApart: Bool) async throws {
        let (url, gate) = fixture.hold()
        let results = Recorder<CacheType?>()
        weak var released: KingfisherManager?
        do {
            let manager = KingfisherManager(downloader: .patient("short"), cache: fixture.cache)
            manager.retrieveImage(
                with: url,
                options: [.callbackQueue(.untouch)] + (probingApart ? [.asyncCacheTypeCheck] : [])
            ) { results.record($0.value?.cacheType) }
            released = manager
        }
        #expect(released == nil)
        gate.open()
        #expect(await results.waitFor(count: 1) == [CacheType.none])
    }

    /// Defect: D-23
    @Test func anOriginalIsProcessedThoughTheManagerIsGone() async throws {
        try await fixture.cache.storeToDisk(fixture.png, forKey: fixture.url.cacheKey)
        let results = Recorder<Int?>()
        KingfisherManager(downloader: .patient("short"), cache: fixture.cache).retrieveImage(
            with: fixture.url,
            options: [.processor(CountingProcessor()), .callbackQueue(.untouch)]
        ) { results.record($0.width) }
        #expect(await results.waitFor(count: 1) == [3])
    }

    /// Defect: D-10
    @Test(.holdingThreads) func aCacheHitDoesNotWaitForTheMainQueue() async throws {
        _ = try await fixture.retrieve()
        let isHeld = Recorder<Void>()
        let held = DispatchSemaphore(value: 0)
        DispatchQueue.main.async {
            isHeld.record(())
            held.wait()
        }
        defer { held.signal() }
        await isHeld.waitFor(count: 1)
        for queue in [CallbackQueue.dispatch(DispatchQueue(label: "callbacks")), .untouch] {
            fixture.cache.clearMemoryCache()
            let request = fixture.start(fixture.url, [.callbackQueue(queue)])
            #expect(await request.result().value?.cacheType == .disk)
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
}
