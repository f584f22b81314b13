import Foundation
import FoundationNetworking
import HalcyonTestKit
import Testing

@testable import Halcyon

@MainActor @Suite struct ImageViewTests {
    private let view = HeadlessImageView()
    private let results = Results()
    private let fixture: PresentationFixture

    init() async throws { fixture = try await PresentationFixture() }

    /// Upstream: testImageDownloadWithResourceForImageView
    @Test func resourcesAndProvidersAreShownUnderTheirOwnKeys() async throws {
        let resource = KF.ImageResource(downloadURL: fixture.url(width: 3), cacheKey: "three")
        let provider = RawImageDataProvider(
            data: PresentationFixture.png(width: 4), cacheKey: "four")
        view.kf.setImage(
            with: resource, options: fixture.options, completionHandler: results.add(0))
        #expect(await results.wait(for: 1)[0].width == 3 && view.image?.pixelSize.width == 3)
        view.kf.setImage(
            with: provider, options: fixture.options, completionHandler: results.add(1))
        #expect(await results.wait(for: 2)[1].width == 4 && view.image?.pixelSize.width == 4)
        #expect(fixture.cache.isCached(forKey: "three") && fixture.cache.isCached(forKey: "four"))
    }

    @Test func anImageInMemoryIsShownBeforeTheCallReturns() async throws {
        _ = await fixture.show(fixture.url(width: 2), in: HeadlessImageView())
        let task = fixture.set(2, in: view, then: results.add())
        #expect(task == nil && results.count == 1 && view.kf.taskIdentifier == nil)
        #expect(view.image?.pixelSize.width == 2)
    }

    /// Upstream: testImageDownloadCancelForImageView
    @Test func cancellingTheReturnedTaskFailsWithoutProgress() async throws {
        fixture.hold()
        let progress = Recorder<Int64>()
        let task = try #require(
            view.kf.setImage(
                with: fixture.url(width: 1), options: fixture.options,
                progressBlock: { received, _ in progress.record(received) },
                completionHandler: results.add()))
        await fixture.origin.waitForRequests(1)
        task.cancel()
        #expect(await results.wait(for: 1)[0].error?.errorCode == 1003)
        #expect(progress.count == 0 && view.image == nil)
        await fixture.origin.waitForAbandonedRequests(1)
    }

    /// Upstream: testImageDownloadCancelPartialTaskBeforeRequest
    @Test func cancellingOneOfSeveralLoadsOfAnImageLeavesTheOthers() async throws {
        let gate = fixture.hold()
        let other = HeadlessImageView()
        let first = fixture.set(1, in: view, then: results.add(0))
        fixture.set(1, in: view, then: results.add(1))
        fixture.set(1, in: other, then: results.add(2))
        first?.cancel()
        gate.open()
        let all = await results.wait(for: 3)
        #expect(all[0].error?.isNotCurrentTask == true && all[1].width == 1 && all[2].width == 1)
        #expect(fixture.origin.requestCount == 1)
    }

    /// Upstream: testImageDownloadCancelAllTasksAfterRequestStarted
    @Test func cancellingAllLoadsOfAnImageEndsTheDownload() async throws {
        fixture.hold()
        let tasks = (0..<3).map { fixture.set(1, in: view, then: results.add($0)) }
        await fixture.origin.waitForRequests(1)
        for task in tasks { task?.cancel() }
        #expect(await results.wait(for: 3).allSatisfy { $0.error != nil })
        await fixture.origin.waitForAbandonedRequests(1)
    }

    /// Upstream: testImageDownloadMultipleCaches
    @Test func usesTheCacheOfEachRequest() async throws {
        let other = try ImageCache(name: "other", cacheDirectoryURL: fixture.folder.url)
        _ = await fixture.show(fixture.url(width: 1), in: view)
        #expect(fixture.cachedType(width: 1) == .memory)
        #expect(!other.isCached(forKey: fixture.url(width: 1).cacheKey))
        _ = await fixture.show(fixture.url(width: 2), in: view, [.targetCache(other)])
        #expect(fixture.cachedType(width: 2) == CacheType.none)
        #expect(other.isCached(forKey: fixture.url(width: 2).cacheKey))
    }

    @Test func noSourceMakesTheRunningLoadStaleAndShowsThePlaceholder() async throws {
        let gate = fixture.hold()
        let placeholder = PresentationFixture.image(width: 2)
        fixture.set(1, in: view, then: results.add())
        view.kf.setImage(with: nil as URL?, placeholder: placeholder)
        #expect(view.kf.taskIdentifier == nil)
        gate.open()
        #expect(await results.wait(for: 1)[0].error?.isNotCurrentTask == true)
        #expect(view.image === placeholder)
    }

    /// Upstream: testDownloadForMultipleURLs
    @Test func aSupersededLoadTellsItsResultAndSourceAndLeavesTheViewAlone() async throws {
        let gate = Gate()
        fixture.hold(width: 7, gate)
        let late = fixture.url(width: 7)
        fixture.set(7, in: view, then: results.add(0))
        fixture.set(2, in: view, then: results.add(1))
        _ = await results.wait(for: 1)
        #expect(view.image?.pixelSize.width == 2)
        view.record.removeAll()
        gate.open()
        let all = await results.wait(for: 2)
        guard
            case .imageSettingError(
                reason: .notCurrentSourceTask(let result, let error, let source))? = all[0].error
        else { throw Unexpected(all[0]) }
        #expect(result?.image.pixelSize.width == 7 && error == nil && source == .network(late))
        #expect(all[1].width == 2 && view.record.events.isEmpty)
        // It is cached all the same.
        #expect(fixture.cache.isCached(forKey: late.cacheKey))
    }

    /// Upstream: testIssue665
    @Test func everyCompletionOfManyLoadsIsCalledOnce() async throws {
        // None is in memory before the last has been asked for.
        let gate = fixture.hold()
        for number in 0..<40 { fixture.set(number % 8 + 1, in: view, then: results.add(number)) }
        gate.open()
        let all = await results.wait(for: 40)
        #expect(all.dropLast().allSatisfy { $0.error?.isNotCurrentTask == true })
        #expect(all.last?.width == 8 && view.image?.pixelSize.width == 8 && results.count == 40)
    }

    /// Upstream: testSetSameURLWithDifferentProcessors
    @Test func theSameImageWithAnotherProcessorIsAnotherLoad() async throws {
        for (number, size) in [(0, 2), (1, 3)] {
            let processor = CountingProcessor(
                identifier: "size-\(size)", gives: PixelSize(width: size, height: size))
            fixture.set(8, in: view, [.processor(processor)], then: results.add(number))
        }
        let all = await results.wait(for: 2)
        #expect(all[0].error?.isNotCurrentTask == true)
        #expect(all[1].width == 3 && view.image?.pixelSize.width == 3)
    }

    /// Upstream: testImageSettingWithAlternativeSource
    @Test func showsAnAlternativeWhenTheSourceFails() async throws {
        let alternative = Source.network(fixture.url(width: 4))
        let result = await fixture.show(
            fixture.missing, in: view, [.alternativeSources([alternative])])
        #expect(view.image?.pixelSize.width == 4 && result.value?.source == alternative)
        #expect(result.value?.originalSource == .network(fixture.missing))
    }

    /// Upstream: testImageSettingCanCancelAlternativeSource
    @Test func cancellingTheViewsTaskCancelsAnAlternative() async throws {
        fixture.hold()
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
        #expect(result.value?.source.url == small && result.value?.originalSource.url == large)
        #expect(view.image?.pixelSize.width == 2)
    }

    /// Upstream: testImageViewCancelDownloadTaskCancelsProvider
    @Test func cancellingTheViewsTaskCancelsAProvider() async throws {
        let provider = CountingProvider(bytes: Data())
        view.kf.setImage(with: provider, options: fixture.options, completionHandler: results.add())
        await provider.gate.waitForWaiters()
        view.kf.cancelDownloadTask()
        #expect(await results.wait(for: 1)[0].error?.errorCode == 1006)
        #expect(view.image == nil)
    }

    @Test func aViewThatIsGoneIsNotKeptAliveAndItsLoadCompletes() async throws {
        let gate = fixture.hold()
        var view: HeadlessImageView? = HeadlessImageView()
        weak let remembered = view
        weak let state = view?.imageViewState
        if let view { fixture.set(1, in: view, then: results.add()) }
        view = nil
        #expect(remembered == nil && state == nil)
        gate.open()
        #expect(await results.wait(for: 1)[0].width == 1)
    }
}
