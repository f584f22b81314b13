import Dispatch
import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

@Suite struct KingfisherManagerCallbackTests {
    private let fixture: ManagerFixture

    init() async throws { fixture = try await ManagerFixture() }

    /// Upstream: testSuccessCompletionHandlerRunningOnMainQueueByDefault
    @Test func completionsComeOnTheMainQueueByDefault() async throws {
        let wasMain = await withCheckedContinuation { continuation in
            fixture.manager.retrieveImage(with: fixture.url) { _ in
                continuation.resume(returning: MainQueue.isCurrent)
            }
        }
        #expect(wasMain)
    }

    /// Upstream: testErrorCompletionHandlerRunningOnMainQueueByDefault
    @Test func errorsComeOnTheMainQueueByDefault() async throws {
        let wasMain = await withCheckedContinuation { continuation in
            fixture.manager.retrieveImage(with: fixture.origin.url("/missing")) { _ in
                continuation.resume(returning: MainQueue.isCurrent)
            }
        }
        #expect(wasMain)
    }

    /// Upstream: testSuccessCompletionHandlerRunningOnCustomQueue,
    /// testLoadCacheCompletionHandlerRunningOnCustomQueue
    @Test func completionsComeOnTheQueueAskedForAndProgressOnMain() async throws {
        let key = DispatchSpecificKey<String>()
        let queue = DispatchQueue(label: "callbacks")
        queue.setSpecific(key: key, value: "callbacks")
        let progressOnMain = Locked<[Bool]>([])
        for options: KingfisherOptionsInfo in [[], [], [.onlyFromCache]] {
            let label = await withCheckedContinuation { continuation in
                fixture.manager.retrieveImage(
                    with: fixture.url, options: options + [.callbackQueue(.dispatch(queue))],
                    progressBlock: { _, _ in
                        let isMain = MainQueue.isCurrent
                        progressOnMain.withLock { $0.append(isMain) }
                    }
                ) { _ in continuation.resume(returning: DispatchQueue.getSpecific(key: key)) }
            }
            #expect(label == "callbacks")
        }
        // What was sent to the main queue before this has run after it.
        await withCheckedContinuation { continuation in
            DispatchQueue.main.async { continuation.resume() }
        }
        #expect(!progressOnMain.value.isEmpty)
        #expect(progressOnMain.value.allSatisfy { $0 })
    }

    @Test func aMemoryHitCompletesBeforeTheCallReturnsAndHasNoTask() async throws {
        _ = try await fixture.retrieve()
        let types = Recorder<CacheType>()
        let task = fixture.manager.retrieveImage(
            with: fixture.url, options: [.callbackQueue(.untouch)]
        ) { result in
            if case .success(let value) = result { types.record(value.cacheType) }
        }
        #expect(types.events == [.memory])
        #expect(task == nil)
    }

    @Test func aDownloadHasBegunWhenTheCallReturns() async throws {
        let done = Gate()
        let task = fixture.manager.retrieveImage(with: fixture.url) { _ in done.open() }
        #expect(task?.sessionTask?.originalURL == fixture.url)
        #expect(task?.cancelToken == 0)
        try await done.wait()
    }

    @Test func aDiskHitHasNoTask() async throws {
        _ = try await fixture.retrieve()
        fixture.cache.clearMemoryCache()
        let done = Gate()
        let task = fixture.manager.retrieveImage(with: fixture.url) { _ in done.open() }
        #expect(task == nil)
        try await done.wait()
    }

    /// Upstream: testRetrieveImageWithAsyncCacheTypeCheckReturnsCancellableShellOnMiss
    @Test func probingApartReturnsAShellThatCancelsTheDownload() async throws {
        let gate = Gate()
        fixture.origin.route("/slow.png", .png(fixture.png).with(.wait(.gate(gate))))
        let results = Recorder<Result<RetrieveImageResult, KingfisherError>>()
        let task = fixture.manager.retrieveImage(
            with: fixture.origin.url("/slow.png"), options: [.asyncCacheTypeCheck]
        ) { results.record($0) }
        let shell = try #require(task)
        await fixture.origin.waitForRequests(1, path: "/slow.png")
        shell.cancel()
        let result = await results.waitFor(count: 1)[0]
        gate.open()
        guard case .failure(let error) = result else {
            Issue.record("expected a cancellation")
            return
        }
        #expect(error.isTaskCancelled)
    }

    /// Upstream: testRetrieveImageCancel
    @Test func aCancelledDownloadCompletesOnceWithItsTask() async throws {
        let gate = Gate()
        fixture.origin.route("/slow.png", .png(fixture.png).with(.wait(.gate(gate))))
        let results = Recorder<Result<RetrieveImageResult, KingfisherError>>()
        let task = fixture.manager.retrieveImage(
            with: fixture.origin.url("/slow.png"), options: [.callbackQueue(.untouch)]
        ) { results.record($0) }
        task?.cancel()
        task?.cancel()
        let result = await results.waitFor(count: 1)[0]
        gate.open()
        guard case .failure(let error) = result else {
            Issue.record("expected a cancellation")
            return
        }
        #expect(error.isTaskCancelled)
        _ = try await fixture.retrieve()
        #expect(results.count == 1)
    }

    /// Upstream: testRetrieveImageCancelAsync
    @Test func cancellingTheSurroundingTaskCancelsTheDownload() async throws {
        let gate = Gate()
        fixture.origin.route("/slow.png", .png(fixture.png).with(.wait(.gate(gate))))
        let manager = fixture.manager
        let url = fixture.origin.url("/slow.png")
        let task = Task { try await manager.retrieveImage(with: url).cacheType }
        await fixture.origin.waitForRequests(1, path: "/slow.png")
        task.cancel()
        let error = await kingfisherError { _ = try await task.value }
        gate.open()
        #expect(error?.isTaskCancelled == true)
    }

    @Test func aTaskCancelledBeforehandThrowsCancellationError() async throws {
        let gate = Gate()
        let manager = fixture.manager
        let url = fixture.url
        let task = Task {
            // Ends with an error because the task is cancelled, which is what is waited for.
            try? await gate.wait()
            return try await manager.retrieveImage(with: url).cacheType
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { _ = try await task.value }
        #expect(fixture.origin.requestCount == 0)
    }

    /// Upstream: testCancellingProviderTaskDeliversCancelledError,
    /// testCancelPropagatesIntoCooperativeAsyncProvider
    @Test func cancellingAProviderLoadIsToldAsSuch() async throws {
        let gate = Gate()
        let provider = GatedProvider(gate: gate, bytes: fixture.png)
        let results = Recorder<Result<RetrieveImageResult, KingfisherError>>()
        let task = fixture.manager.retrieveImage(
            with: .provider(provider), options: [.callbackQueue(.untouch)]
        ) { results.record($0) }
        let handle = try #require(task)
        await gate.waitForWaiters(1)
        handle.cancel()
        let result = await results.waitFor(count: 1)[0]
        guard case .failure(let error) = result else {
            Issue.record("expected a cancellation")
            return
        }
        #expect(error.errorCode == 1006)
        #expect(error.isCancelled)
    }

    /// Upstream: testRetrieveWithImageProviderFail
    @Test func aFailingProviderIsToldWithItsError() async throws {
        let provider = Base64ImageDataProvider(base64String: "***", cacheKey: "text")
        let error = await kingfisherError {
            _ = try await fixture.manager.retrieveImage(with: .provider(provider))
        }
        #expect(error?.errorCode == 5003)
        #expect(error?.errorDescription?.contains("not Base64") == true)
    }

    /// Upstream: testRetrieveWithImageProvider
    @Test func loadsFromProvidersAndFiles() async throws {
        let raw = RawImageDataProvider(data: fixture.png, cacheKey: "raw")
        #expect(
            try await fixture.manager.retrieveImage(with: .provider(raw)).image.pixelSize.width
                == 64)
        let file = try fixture.folder.write(fixture.png, to: "a photo.png")
        let result = try await fixture.manager.retrieveImage(with: file)
        #expect(result.image.pixelSize.width == 64)
        #expect(fixture.cache.isCached(forKey: file.cacheKey))
    }

    @Test func aThousandCallersMakeOneRequestOneDecodeAndOneFile() async throws {
        let gate = Gate()
        fixture.origin.route("/shared.png", .png(fixture.png).with(.wait(.gate(gate))))
        let url = fixture.origin.url("/shared.png")
        let processor = CountingProcessor()
        let results = Recorder<CacheType?>()
        for _ in 0..<1000 {
            fixture.manager.retrieveImage(
                with: url, options: [.processor(processor), .callbackQueue(.untouch)]
            ) { results.record(try? $0.get().cacheType) }
        }
        gate.open()
        let types = await results.waitFor(count: 1000)
        #expect(types.allSatisfy { $0 == CacheType.none })
        #expect(fixture.origin.requestCount(for: "/shared.png") == 1)
        #expect(processor.runs.value == 1)
    }

    @Test(arguments: [false, true])
    func callersThatComeOneAfterTheOtherMakeOneRequest(inTasks: Bool) async throws {
        let processor = CountingProcessor()
        let manager = fixture.manager
        let url = fixture.url
        let options: KingfisherOptionsInfo = [
            .processor(processor), .callbackQueue(.untouch), .cacheMemoryOnly,
        ]
        if inTasks {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<1000 {
                    group.addTask {
                        _ = try await manager.retrieveImage(with: url, options: options)
                    }
                }
                try await group.waitForAll()
            }
        } else {
            let results = Recorder<Bool>()
            for _ in 0..<1000 {
                manager.retrieveImage(with: url, options: options) {
                    results.record((try? $0.get()) != nil)
                }
            }
            #expect(await results.waitFor(count: 1000).allSatisfy { $0 })
        }
        #expect(fixture.origin.requestCount == 1)
        #expect(processor.runs.value == 1)
    }

    @Test func quickCancellationsCompleteEachCallExactlyOnce() async throws {
        let results = Recorder<Int>()
        for round in 0..<300 {
            let task = fixture.manager.retrieveImage(
                with: KF.ImageResource(downloadURL: fixture.url, cacheKey: "\(round)"),
                options: [.callbackQueue(.untouch), .cacheMemoryOnly]
            ) { _ in results.record(round) }
            if round.isMultiple(of: 2) { task?.cancel() }
        }
        let rounds = await results.waitFor(count: 300)
        #expect(Set(rounds).count == 300)
        #expect(results.count == 300)
    }
}

/// Gives its bytes when the gate opens; ends with an error when its task is cancelled.
private struct GatedProvider: ImageDataProvider {
    let gate: Gate
    let bytes: Data
    let cacheKey = "gated"

    func data() async throws -> Data {
        try await gate.wait()
        return bytes
    }
}
