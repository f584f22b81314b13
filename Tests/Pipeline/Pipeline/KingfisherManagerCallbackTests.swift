import Dispatch
import Foundation
import HalcyonTestKit
import HalcyonWork
import Testing

@testable import Halcyon

@Suite struct KingfisherManagerCallbackTests {
    private let fixture: ManagerFixture

    init() async throws { fixture = try await ManagerFixture() }

    /// Upstream: testSuccessCompletionHandlerRunningOnMainQueueByDefault,
    /// testErrorCompletionHandlerRunningOnMainQueueByDefault
    @Test(arguments: ["/photo.png", "/missing"])
    func completionsComeOnTheMainQueueByDefault(path: String) async {
        let wasMain: Bool = await handedOver { hand in
            fixture.manager.retrieveImage(with: fixture.origin.url(path)) { _ in
                hand(MainQueue.isCurrent)
            }
        }
        #expect(wasMain)
    }

    /// Upstream: testSuccessCompletionHandlerRunningOnCustomQueue,
    /// testLoadCacheCompletionHandlerRunningOnCustomQueue,
    /// testOnlyFromCacheMissCompletionHandlerRunningOnCustomQueue
    @Test func completionsComeOnTheQueueAskedForAndProgressOnMain() async throws {
        let key = DispatchSpecificKey<String>()
        let queue = DispatchQueue(label: "callbacks")
        queue.setSpecific(key: key, value: "callbacks")
        let progress = Recorder<Void>()
        for options: KingfisherOptionsInfo in [[.onlyFromCache], [], [], [.onlyFromCache]] {
            let label: String? = await handedOver { hand in
                fixture.manager.retrieveImage(
                    with: fixture.url, options: options + [.callbackQueue(.dispatch(queue))],
                    progressBlock: { _, _ in
                        #expect(MainQueue.isCurrent)
                        progress.record(())
                    }
                ) { _ in hand(DispatchQueue.getSpecific(key: key)) }
            }
            #expect(label == "callbacks")
        }
        await mainQueueTurn()
        #expect(progress.count > 0)
    }

    @Test func aMemoryHitCompletesBeforeTheCallReturnsAndHasNoTask() async throws {
        _ = try await fixture.retrieve()
        let hit = fixture.start(fixture.url)
        #expect(hit.results.events.map(\.value?.cacheType) == [.memory] && hit.task == nil)
    }

    @Test func aDownloadHasBegunWhenTheCallReturnsAndADiskHitHasNoTask() async throws {
        let download = fixture.start(fixture.url)
        let task = download.task
        #expect(task?.sessionTask?.originalURL == fixture.url && task?.cancelToken == 0)
        _ = await download.result()
        fixture.cache.clearMemoryCache()
        let hit = fixture.start(fixture.url)
        #expect(await hit.result().value?.cacheType == .disk && hit.task == nil)
    }

    /// Upstream: testRetrieveImageCancel,
    /// testRetrieveImageWithAsyncCacheTypeCheckReturnsCancellableShellOnMiss
    @Test(arguments: [false, true])
    func aCancelledDownloadCompletesOnceWithItsTask(probingApart: Bool) async throws {
        let (url, gate) = fixture.hold()
        let request = fixture.start(url, probingApart ? [.asyncCacheTypeCheck] : [])
        let task = try #require(request.task)
        if probingApart { await fixture.origin.waitForRequests(1, path: "/slow.png") }
        task.cancel()
        task.cancel()
        #expect(await request.result().error?.isTaskCancelled == true)
        gate.open()
        _ = try await fixture.retrieve()
        #expect(request.results.count == 1)
    }

    /// Upstream: testRetrieveImageCancelAsync
    @Test func cancellingTheSurroundingTaskCancelsTheDownload() async throws {
        let (url, gate) = fixture.hold()
        let manager = fixture.manager
        let task = Task { try await manager.retrieveImage(with: url).cacheType }
        await fixture.origin.waitForRequests(1, path: "/slow.png")
        task.cancel()
        #expect(await kingfisherError { _ = try await task.value }?.isTaskCancelled == true)
        gate.open()
    }

    @Test func aTaskCancelledBeforehandThrowsCancellationError() async throws {
        let task = Task { [manager = fixture.manager, url = fixture.url] in
            // Ends with an error because the task is cancelled, which is what is waited for.
            try? await Gate().wait()
            return try await manager.retrieveImage(with: url).cacheType
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { _ = try await task.value }
        #expect(fixture.origin.requestCount == 0)
    }

    /// Upstream: testRetrieveWithImageProviderFail
    @Test func aFailingProviderIsToldWithItsError() async throws {
        let provider = Base64ImageDataProvider(base64String: "***", cacheKey: "text")
        let error = await fixture.start(.provider(provider)).result().error
        #expect(error?.errorCode == 5003 && error?.errorDescription?.contains("not Base64") == true)
    }

    @Test(arguments: [false, true])
    func callersThatComeOneAfterTheOtherMakeOneRequest(inTasks: Bool) async throws {
        let processor = CountingProcessor()
        let options: KingfisherOptionsInfo = [.processor(processor), .cacheMemoryOnly]
        if inTasks {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<1000 {
                    group.addTask {
                        _ = try await fixture.retrieve(options + [.callbackQueue(.untouch)])
                    }
                }
                try await group.waitForAll()
            }
        } else {
            let requests = (0..<1000).map { _ in fixture.start(fixture.url, options) }
            for request in requests { #expect(await request.result().value != nil) }
        }
        #expect(fixture.origin.requestCount == 1 && processor.runs.value == 1)
    }

    // MARK: Where Kingfisher's go wrong

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
        let isCached = fixture.cache.isCached(forKey: fixture.url.cacheKey)
        #expect(fixture.origin.requestCount == 0 && !isCached)
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
        let result = await fixture.retrieveByCallback([.requestModifier(AnyModifier { _ in nil })])
        #expect(result.errorCode == 1001 && fixture.origin.requestCount == 0)
    }
}
