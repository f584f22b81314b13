import Dispatch
import Foundation
import FoundationNetworking
import HalcyonTestKit
import HalcyonWork
import Testing

@testable import Halcyon

@MainActor @Suite struct ImageViewTests {
    /// Upstream: testImageDownloadForImageView
    @Test func showsADownloadedImageAfterItsProgressOnMain() async throws {
        let fixture = try await PresentationFixture()
        let view = HeadlessImageView()
        let events = Recorder<String>()
        let result = await handedOver { hand in
            view.kf.setImage(
                with: fixture.url(width: 3), options: fixture.options,
                progressBlock: { received, total in
                    events.record("progress \(received == total) main \(MainQueue.isCurrent)")
                },
                completionHandler: {
                    events.record("completion")
                    hand($0)
                })
        }
        #expect(events.events.last == "completion")
        #expect(events.events.dropLast().last == "progress true main true")
        #expect(result.value?.cacheType == CacheType.none)
        #expect(result.width == 3)
        #expect(view.image === result.value?.image)
        #expect(view.kf.taskIdentifier == nil)
    }

    /// Upstream: testImageDownloadWithResourceForImageView
    @Test func resourcesAndProvidersAreShownUnderTheirOwnKeys() async throws {
        let fixture = try await PresentationFixture()
        let view = HeadlessImageView()
        let resource = KF.ImageResource(downloadURL: fixture.url(width: 3), cacheKey: "three")
        let provider = RawImageDataProvider(
            data: PresentationFixture.png(width: 4), cacheKey: "four")
        let first = await handedOver { hand in
            view.kf.setImage(with: resource, options: fixture.options) {
                hand($0)
            }
        }
        #expect(first.width == 3 && view.image?.pixelSize.width == 3)
        let second = await handedOver { hand in
            view.kf.setImage(with: provider, options: fixture.options) {
                hand($0)
            }
        }
        #expect(second.width == 4 && view.image?.pixelSize.width == 4)
        #expect(fixture.cache.isCached(forKey: "three") && fixture.cache.isCached(forKey: "four"))
    }

    /// Upstream: testImageDownloadCompletionHandlerRunningOnMainQueue
    @Test func completesOnMainDespiteAnotherCallbackQueue() async throws {
        let fixture = try await PresentationFixture()
        let view = HeadlessImageView()
        let queue = DispatchQueue(label: "elsewhere")
        let onMain = await handedOver { hand in
            view.kf.setImage(
                with: fixture.url(width: 1),
                options: fixture.using([.callbackQueue(.dispatch(queue))])
            ) { _ in hand(MainQueue.isCurrent) }
        }
        #expect(onMain)
    }

    @Test func anImageInMemoryIsShownBeforeTheCallReturns() async throws {
        let fixture = try await PresentationFixture()
        let view = HeadlessImageView()
        _ = await fixture.show(fixture.url(width: 2), in: HeadlessImageView())
        let results = Results()
        let task = view.kf.setImage(
            with: fixture.url(width: 2), options: fixture.options, completionHandler: results.add())
        #expect(task == nil)
        #expect(results.count == 1)
        #expect(view.image?.pixelSize.width == 2)
        #expect(view.kf.taskIdentifier == nil)
    }

    /// Upstream: testImageDownloadCancelForImageView
    @Test func cancellingTheReturnedTaskFailsWithoutProgress() async throws {
        let fixture = try await PresentationFixture(gate: Gate())
        let view = HeadlessImageView()
        let results = Results()
        let progress = Recorder<Int64>()
        let task = try #require(
            view.kf.setImage(
                with: fixture.url(width: 1), options: fixture.options,
                progressBlock: { received, _ in progress.record(received) },
                completionHandler: results.add()))
        await fixture.origin.waitForRequests(1)
        task.cancel()
        let result = await results.wait(for: 1)[0]
        #expect(result.error?.errorCode == 1003)
        #expect(progress.count == 0)
        #expect(view.image == nil)
        await fixture.origin.waitForAbandonedRequests(1)
    }

    /// Upstream: testCancelImageTask (ImageViewExtensionTests)
    @Test func cancellingTheViewsTaskIsANormalFailure() async throws {
        let fixture = try await PresentationFixture(gate: Gate())
        let view = HeadlessImageView()
        let results = Results()
        let failed = PresentationFixture.image(width: 9)
        view.kf.setImage(
            with: fixture.url(width: 1), options: fixture.using([.onFailureImage(failed)]),
            completionHandler: results.add())
        let identifier = view.kf.taskIdentifier
        view.kf.cancelDownloadTask()
        view.kf.cancelDownloadTask()
        let result = await results.wait(for: 1)[0]
        #expect(identifier != nil)
        #expect(result.error?.isTaskCancelled == true)
        #expect(view.image === failed)
        #expect(view.kf.taskIdentifier == nil)
        #expect(results.count == 1)
    }

    /// Upstream: testImageDownloadCancelPartialTaskBeforeRequest
    @Test func cancellingOneOfSeveralLoadsOfAnImageLeavesTheOthers() async throws {
        let gate = Gate()
        let fixture = try await PresentationFixture(gate: gate)
        let (view, other) = (HeadlessImageView(), HeadlessImageView())
        let results = Results()
        let url = fixture.url(width: 1)
        let first = view.kf.setImage(
            with: url, options: fixture.options, completionHandler: results.add(0))
        view.kf.setImage(with: url, options: fixture.options, completionHandler: results.add(1))
        other.kf.setImage(with: url, options: fixture.options, completionHandler: results.add(2))
        first?.cancel()
        gate.open()
        let all = await results.wait(for: 3)
        #expect(all[0].error?.isNotCurrentTask == true)
        #expect(all[1].width == 1 && all[2].width == 1)
        #expect(fixture.origin.requestCount == 1)
    }

    /// Upstream: testImageDownloadCancelAllTasksAfterRequestStarted
    @Test func cancellingAllLoadsOfAnImageEndsTheDownload() async throws {
        let fixture = try await PresentationFixture(gate: Gate())
        let view = HeadlessImageView()
        let results = Results()
        let tasks = (0..<3).map { number in
            view.kf.setImage(
                with: fixture.url(width: 1), options: fixture.options,
                completionHandler: results.add(number))
        }
        await fixture.origin.waitForRequests(1)
        for task in tasks { task?.cancel() }
        let all = await results.wait(for: 3)
        #expect(all.allSatisfy { $0.error != nil })
        await fixture.origin.waitForAbandonedRequests(1)
    }

    /// Upstream: testImageDownloadMultipleCaches
    @Test func usesTheCacheOfEachRequest() async throws {
        let fixture = try await PresentationFixture()
        let view = HeadlessImageView()
        let other = try ImageCache(name: "other", cacheDirectoryURL: fixture.folder.url)
        _ = await fixture.show(fixture.url(width: 1), in: view)
        #expect(fixture.cachedType(width: 1) == .memory)
        #expect(!other.isCached(forKey: fixture.url(width: 1).cacheKey))
        _ = await fixture.show(fixture.url(width: 2), in: view, [.targetCache(other)])
        #expect(fixture.cachedType(width: 2) == CacheType.none)
        #expect(other.isCached(forKey: fixture.url(width: 2).cacheKey))
    }

    /// Upstream: testSettingNilURL (ImageViewExtensionTests)
    @Test func noSourceFailsAtOnceAndShowsThePlaceholder() async throws {
        let view = HeadlessImageView()
        let results = Results()
        view.image = PresentationFixture.image(width: 1)
        let progress = Recorder<Int64>()
        let none: URL? = nil
        let task = view.kf.setImage(
            with: none, progressBlock: { received, _ in progress.record(received) },
            completionHandler: results.add())
        #expect(task == nil && results.count == 1 && progress.count == 0)
        #expect(await results.wait(for: 1)[0].error?.errorCode == 5001)
        #expect(view.image == nil)
        let placeholder = PresentationFixture.image(width: 2)
        view.kf.setImage(with: none, placeholder: placeholder)
        #expect(view.image === placeholder)
    }

    @Test func noSourceMakesTheRunningLoadStale() async throws {
        let gate = Gate()
        let fixture = try await PresentationFixture(gate: gate)
        let view = HeadlessImageView()
        let results = Results()
        view.kf.setImage(
            with: fixture.url(width: 1), options: fixture.options, completionHandler: results.add())
        let none: URL? = nil
        view.kf.setImage(with: none)
        #expect(view.kf.taskIdentifier == nil)
        gate.open()
        #expect(await results.wait(for: 1)[0].error?.isNotCurrentTask == true)
        #expect(view.image == nil)
    }

    /// Upstream: testDownloadForMultipleURLs
    @Test func aSupersededLoadTellsItsResultAndSourceAndLeavesTheViewAlone() async throws {
        let gate = Gate()
        let fixture = try await PresentationFixture()
        fixture.origin.route(
            "/late.png", .png(PresentationFixture.png(width: 7)).with(.wait(.gate(gate))))
        let view = HeadlessImageView()
        let results = Results()
        let late = fixture.origin.url("/late.png")
        view.kf.setImage(with: late, options: fixture.options, completionHandler: results.add(0))
        view.kf.setImage(
            with: fixture.url(width: 2), options: fixture.options,
            completionHandler: results.add(1))
        _ = await results.wait(for: 1)
        #expect(view.image?.pixelSize.width == 2)
        view.record.removeAll()
        gate.open()
        let all = await results.wait(for: 2)
        guard
            case .imageSettingError(
                reason: .notCurrentSourceTask(let result, let error, let source))? = all[0].error
        else {
            Issue.record("the first load is stale")
            return
        }
        #expect(result?.image.pixelSize.width == 7)
        #expect(error == nil)
        #expect(source == .network(late))
        #expect(all[1].width == 2)
        #expect(view.record.events.isEmpty)
        // It is cached all the same.
        #expect(fixture.cache.isCached(forKey: late.cacheKey))
    }

    /// Upstream: testIssue665
    @Test func everyCompletionOfManyLoadsIsCalledOnce() async throws {
        // None is in memory before the last has been asked for.
        let gate = Gate()
        let fixture = try await PresentationFixture(gate: gate)
        let view = HeadlessImageView()
        let results = Results()
        for number in 0..<40 {
            view.kf.setImage(
                with: fixture.url(width: number % 8 + 1), options: fixture.options,
                completionHandler: results.add(number))
        }
        gate.open()
        let all = await results.wait(for: 40)
        #expect(all.dropLast().allSatisfy { $0.error?.isNotCurrentTask == true })
        #expect(all.last?.width == 8 && view.image?.pixelSize.width == 8)
        #expect(results.count == 40)
    }

    /// Upstream: testSetSameURLWithDifferentProcessors
    @Test func theSameImageWithAnotherProcessorIsAnotherLoad() async throws {
        let fixture = try await PresentationFixture()
        let view = HeadlessImageView()
        let results = Results()
        for (number, size) in [(0, 2), (1, 3)] {
            let processor = CountingProcessor(
                identifier: "size-\(size)", gives: PixelSize(width: size, height: size))
            view.kf.setImage(
                with: fixture.url(width: 8), options: fixture.using([.processor(processor)]),
                completionHandler: results.add(number))
        }
        let all = await results.wait(for: 2)
        #expect(all[0].error?.isNotCurrentTask == true)
        #expect(all[1].width == 3)
        #expect(view.image?.pixelSize.width == 3)
    }

    /// Upstream: testImageSettingWithAlternativeSource
    @Test func showsAnAlternativeWhenTheSourceFails() async throws {
        let fixture = try await PresentationFixture()
        let view = HeadlessImageView()
        let alternative = Source.network(fixture.url(width: 4))
        let result = await fixture.show(
            fixture.missing, in: view, [.alternativeSources([alternative])])
        #expect(view.image?.pixelSize.width == 4)
        #expect(result.value?.source == alternative)
        #expect(result.value?.originalSource == .network(fixture.missing))
    }

    /// Upstream: testImageSettingCanCancelAlternativeSource
    @Test func cancellingTheViewsTaskCancelsAnAlternative() async throws {
        let fixture = try await PresentationFixture(gate: Gate())
        let view = HeadlessImageView()
        let results = Results()
        view.kf.setImage(
            with: fixture.missing,
            options: fixture.using([.alternativeSources([.network(fixture.url(width: 4))])]),
            completionHandler: results.add())
        await fixture.origin.waitForRequests(1, path: "/4.png")
        view.kf.cancelDownloadTask()
        #expect(await results.wait(for: 1)[0].error?.isTaskCancelled == true)
        await fixture.origin.waitForAbandonedRequests(1)
    }

    /// Upstream: testLowDataModeSource
    @Test func showsTheLowDataSourceWhenTheNetworkIsToBeSpared() async throws {
        let fixture = try await PresentationFixture()
        let view = HeadlessImageView()
        let png = PresentationFixture.png(width: 2)
        let downloader = ImageDownloader(
            name: "spared",
            transport: ScriptedTransport { request, exchange in
                let url = request.url?.absoluteString ?? ""
                if url.hasSuffix("large") { throw ImageTransportError.lowDataMode(url: url) }
                try await exchange.answer(png)
            })
        let large = URL(string: "http://example.com/large")!
        let small = URL(string: "http://example.com/small")!
        let result = await fixture.show(
            large, in: view, [.downloader(downloader), .lowDataMode(.network(small))])
        #expect(result.value?.source.url == small)
        #expect(result.value?.originalSource.url == large)
        #expect(view.image?.pixelSize.width == 2)
    }

    /// Upstream: testImageViewCancelDownloadTaskCancelsProvider
    @Test func cancellingTheViewsTaskCancelsAProvider() async throws {
        let fixture = try await PresentationFixture()
        let view = HeadlessImageView()
        let results = Results()
        let provider = WaitingProvider()
        view.kf.setImage(
            with: provider, options: fixture.options, completionHandler: results.add())
        await provider.gate.waitForWaiters()
        view.kf.cancelDownloadTask()
        #expect(await results.wait(for: 1)[0].error?.errorCode == 1006)
        #expect(view.image == nil)
    }

    @Test func aViewThatIsGoneIsNotKeptAliveAndItsLoadCompletes() async throws {
        let gate = Gate()
        let fixture = try await PresentationFixture(gate: gate)
        let results = Results()
        var view: HeadlessImageView? = HeadlessImageView()
        weak let remembered = view
        weak let state = view?.imageViewState
        view?.kf.setImage(
            with: fixture.url(width: 1), options: fixture.options, completionHandler: results.add())
        view = nil
        #expect(remembered == nil && state == nil)
        gate.open()
        #expect(await results.wait(for: 1)[0].width == 1)
    }
}

/// A provider whose bytes never come.
private struct WaitingProvider: ImageDataProvider {
    let cacheKey = "waiting"
    let gate = Gate()

    func data() async throws -> Data {
        try await gate.wait()
        return Data()
    }
}
