import Dispatch
import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

@Suite struct KingfisherManagerUpstreamTests {
    private let fixture: ManagerFixture
    private var cache: ImageCache { fixture.cache }
    private var key: String { fixture.url.cacheKey }

    init() async throws { fixture = try await ManagerFixture() }

    private func cacheType(_ options: KingfisherOptionsInfo) async throws -> CacheType {
        try await fixture.retrieveByCallback(options).get().cacheType
    }

    // MARK: Cache states

    /// Upstream: testRetrieveImage, testRetrieveImageWithAsyncCacheTypeCheckAcrossCacheStates,
    /// testRetrieveImageAsync, testRetrieveImageWithoutCheckerKeepsExistingBehavior
    @Test(arguments: [false, true])
    func loadsThenFindsInMemoryThenOnDiskThenLoadsAgain(probingApart: Bool) async throws {
        let options: KingfisherOptionsInfo = probingApart ? [.asyncCacheTypeCheck] : []
        #expect(try await cacheType(options) == .none)
        #expect(try await cacheType(options) == .memory)
        cache.clearMemoryCache()
        #expect(try await cacheType(options) == .disk)
        await cache.clearCache()
        #expect(try await cacheType(options) == .none)
        #expect(fixture.origin.requestCount == 2)
    }

    /// Upstream: testCouldProcessOnOriginalImage,
    /// testRetrieveImageWithAsyncCacheTypeCheckUsesOriginalCacheFallback
    @Test(arguments: [false, true])
    func aCachedOriginalIsProcessed(probingApart: Bool) async throws {
        try await cache.storeToDisk(fixture.png, forKey: key)
        let processor = CountingProcessor()
        var options: KingfisherOptionsInfo = [.processor(processor)]
        if probingApart { options.append(.asyncCacheTypeCheck) }
        #expect(try await cacheType(options) == .none)
        #expect(try await cacheType(options) == .memory)
        #expect(processor.runs.value == 1 && fixture.origin.requestCount == 0)
    }

    // MARK: Waiting for the disk

    /// Upstream: testNotWaitForCacheOnRetrieveImage
    @Test(.holdingThreads) func whoDoesNotWaitFindsItInMemory() async throws {
        fixture.manager.defaultOptions = []
        let held = DispatchSemaphore(value: 0)
        let serializer = CountingSerializer { held.wait() }
        let events = fixture.manager.recordedEvents()
        let result = try await fixture.retrieveByCallback([.cacheSerializer(serializer)]).get()
        #expect(result.cacheType == .none && cache.imageCachedType(forKey: key) == .memory)
        #expect(!cache.diskStorage.isCached(forKey: key))
        held.signal()
        await events.wait { $0.fileCount == 1 }
        #expect(cache.diskStorage.isCached(forKey: key))
    }

    /// Upstream: testCacheCallbackCoordinatorStateChanging, testOriginalImageCouldBeStored,
    /// testWaitForCacheOnRetrieveImageWithProcessor, testOriginalImageNotBeStoredWithoutOptionSet,
    /// testWaitForCacheOnRetrieveImage
    /// Defect: D-17
    @Test(arguments: 0..<8)
    func completionFollowsOneRule(combination: Int) async throws {
        let waiting = combination & 1 != 0
        let memoryOnly = combination & 2 != 0
        let withOriginal = combination & 4 != 0
        fixture.manager.defaultOptions = waiting ? [.waitForCache] : []
        let processor = CountingProcessor()
        var options: KingfisherOptionsInfo = [.processor(processor), .callbackQueue(.untouch)]
        if memoryOnly { options.append(.cacheMemoryOnly) }
        if withOriginal { options.append(.cacheOriginalImage) }
        let completions = Recorder<[Bool]>()
        let events = fixture.manager.recordedEvents()
        let (cache, key) = (cache, key)
        fixture.manager.retrieveImage(with: fixture.url, options: options) { _ in
            completions.record([
                cache.diskStorage.isCached(forKey: key.computedKey(with: processor.identifier)),
                cache.diskStorage.isCached(forKey: key),
            ])
        }
        let seen = await completions.waitFor(count: 1)[0]
        if waiting { #expect(seen == [!memoryOnly, withOriginal]) }
        // Whether waited for or not, what was asked for gets there.
        let processed = key.computedKey(with: processor.identifier)
        let fileCount = (memoryOnly ? 0 : 1) + (withOriginal ? 1 : 0)
        await events.wait { $0.fileCount == fileCount }
        #expect(cache.imageCachedType(forKey: key) == (withOriginal ? .disk : .none))
        #expect(cache.imageCachedType(forKey: processed) == .memory)
        #expect(cache.diskStorage.isCached(forKey: processed) == !memoryOnly)
        #expect(completions.count == 1)
    }

    // MARK: Cancelling

    /// Upstream: testCallbackClearAfterSuccess
    @Test func cancellingAfterTheSuccessTellsNothing() async throws {
        let request = fixture.start(fixture.url)
        #expect(await request.result().value != nil)
        request.task?.cancel()
        _ = try await fixture.retrieve()
        #expect(request.results.count == 1)
    }

    /// Upstream: testRetrieveImageWithAsyncCacheTypeCheckCancelsAsyncRequestModifierShell
    @Test func theShellCancelsADownloadThatAModifierStarted() async throws {
        let (url, gate) = fixture.hold()
        let modifier = HeldModifier()
        let request = fixture.start(url, [.asyncCacheTypeCheck, .requestModifier(modifier)])
        let shell = try #require(request.task)
        await modifier.started.waitFor(count: 1)
        shell.cancel()
        #expect(await request.result().errorCode == 1003)
        gate.open()
    }

    // MARK: Processing

    /// Upstream: testAnimatedImageShouldRecreateFromCache,
    /// testAnimatedImageShouldNotRecreateWithSameOptions
    /// Defect: D-26
    @Test(arguments: [2, 1])
    func anAnimationIsMadeAgainOnlyForOtherOptions(successes: Int) async throws {
        fixture.origin.route("/a.gif", .ok(Grays.gif(4), contentType: "image/gif"))
        let runs = Recorder<Void>()
        let processor = ClosureProcessor { item, options in
            runs.record(())
            guard runs.count <= successes else { return nil }
            return DefaultImageProcessor.default.process(item: item, options: options)
        }
        func retrieve(_ options: KingfisherOptionsInfo) async throws -> RetrieveImageResult {
            try await fixture.manager.retrieveImage(
                with: fixture.origin.url("/a.gif"), options: options + [.processor(processor)])
        }
        let first = try await retrieve([.onlyLoadFirstFrame]).image
        #expect(first.frameCount == 1)
        #expect(try await retrieve([.onlyLoadFirstFrame]).cacheType == .memory && runs.count == 1)
        let whole = try await retrieve([])
        #expect(runs.count == 2)
        if successes == 2 {
            #expect(whole.cacheType == .memory && whole.image.frameCount == 4)
        } else {
            #expect(whole.image === first, "it cannot be made again and is delivered as it is")
        }
    }

    // MARK: Bytes

    /// Upstream: testImageResultContainsDataWhenDownloaded,
    /// testImageResultContainsDataWhenLoadFromMemoryCache,
    /// testImageResultContainsDataWhenLoadFromDiskCache
    @Test func theResultsBytesAreTheBodyOrWhatTheSerializerMakes() async throws {
        let serializer = FormatIndicatedCacheSerializer.jpeg
        let options: KingfisherOptionsInfo = [.cacheSerializer(serializer)]
        #expect(try await fixture.retrieve(options).data() == fixture.png)
        let fromMemory = try await fixture.retrieve(options)
        #expect(fromMemory.cacheType == .memory)
        #expect(fromMemory.data() == serializer.data(with: fromMemory.image, original: nil))
        #expect(fromMemory.data()?.kf.imageFormat == .JPEG)
        cache.clearMemoryCache()
        let fromDisk = try await fixture.retrieve(options)
        #expect(fromDisk.cacheType == .disk)
        #expect(fromDisk.data() == serializer.data(with: fromDisk.image, original: nil))
    }

    /// Upstream: testCanUseCustomizeDefaultCacheSerializerStoreEncoded
    @Test func aSerializerWithAQualityWritesThatQuality() async throws {
        let jpeg = try encoded(.gradient(64, 48), as: .JPEG, quality: 1)
        fixture.origin.route("/photo.png", .ok(jpeg, contentType: "image/jpeg"))
        var serializer = DefaultCacheSerializer()
        serializer.compressionQuality = 0.8
        // A processor, because the bytes of an unprocessed image may be kept as they are.
        let processor = ResizingImageProcessor(referenceSize: CGSize(width: 32, height: 24))
        let result = try await fixture.retrieve([
            .cacheSerializer(serializer), .processor(processor),
        ])
        let path = cache.cachePath(forKey: key, processorIdentifier: processor.identifier)
        let expected = result.image.kf.jpegRepresentation(compressionQuality: 0.8)
        #expect(try Data(contentsOf: URL(filePath: path)) == expected)
        #expect(expected != result.image.kf.jpegRepresentation(compressionQuality: 1))
    }
}
