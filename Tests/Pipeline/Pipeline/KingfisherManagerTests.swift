import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

@Suite struct KingfisherManagerTests {
    private let fixture: ManagerFixture

    init() async throws { fixture = try await ManagerFixture() }

    @Test func deliversPixelsThatAreRenderedAlready() async throws {
        let image = try await fixture.retrieve().image
        #expect(image.isRendered)
        let expected = PixelGrid.gradient(width: 64, height: 48)[10, 20]
        let pixel = try image.bitmap()[10, 20]
        #expect(pixel.red * 255 == CGFloat(expected.red))
        #expect(pixel.green * 255 == CGFloat(expected.green))
    }

    /// Upstream: testRetrieveImageWithProcessor
    @Test func aProcessedVariantIsCachedApart() async throws {
        let options: KingfisherOptionsInfo = [.processor(CountingProcessor())]
        #expect(try await fixture.retrieve(options).image.pixelSize.width == 3)
        #expect(try await fixture.retrieve(options).cacheType == .memory)
        #expect(try await fixture.retrieve().cacheType == .none)
        #expect(fixture.origin.requestCount == 2)
    }

    /// Options whose image is on disk only, and their processor; a serializer may prefer originals.
    private func onDisk(
        ofOriginals: Bool
    ) async throws -> (CountingProcessor, KingfisherOptionsInfo) {
        let processor = CountingProcessor()
        var serializer = DefaultCacheSerializer()
        serializer.preferCacheOriginalData = ofOriginals
        let options: KingfisherOptionsInfo = [.processor(processor), .cacheSerializer(serializer)]
        _ = try await fixture.retrieve(options)
        fixture.cache.clearMemoryCache()
        return (processor, options)
    }

    /// Upstream: testCouldProcessDoNotHappenWhenSerializerCachesTheProcessedData,
    /// testCouldProcessAgainWhenSerializerCachesOriginalData,
    /// testShouldDownloadAndCacheProcessedImage
    /// Defect: D-13
    @Test(arguments: [false, true])
    func aSerializerOfOriginalsMakesTheProcessorRunOnceForEachDiskHit(
        ofOriginals: Bool
    ) async throws {
        let (processor, options) = try await onDisk(ofOriginals: ofOriginals)
        for type in [CacheType.disk, .memory] {
            let result = try await fixture.retrieve(options)
            #expect(result.cacheType == type)
            #expect(result.image.pixelSize == PixelSize(width: 3, height: 2))
            #expect(processor.runs.value == (ofOriginals ? 2 : 1))
        }
    }

    @Test func manyDiskHitsAtOnceDecodeAndProcessOnce() async throws {
        let (processor, options) = try await onDisk(ofOriginals: true)
        try await withThrowingTaskGroup(of: CacheType.self) { group in
            for _ in 0..<300 {
                group.addTask { try await fixture.retrieve(options).cacheType }
            }
            for try await type in group { #expect(type.cached) }
        }
        #expect(processor.runs.value == 2 && fixture.origin.requestCount == 1)
    }

    /// Upstream: testRetrieveImageForceRefresh
    @Test func forceRefreshLoadsWhatIsCached() async throws {
        _ = try await fixture.retrieve()
        #expect(try await fixture.retrieve([.forceRefresh]).cacheType == .none)
        #expect(try await fixture.retrieve([.forceRefresh, .onlyFromCache]).cacheType == .none)
        #expect(fixture.origin.requestCount == 3)
    }

    /// Upstream: testShouldNotDownloadImageIfCacheOnlyAndNotInCache,
    /// testRetrieveImageWithAsyncCacheTypeCheckHonoursOnlyFromCache
    @Test(arguments: [false, true])
    func onlyFromCacheFailsForWhatIsNotCached(probingApart: Bool) async throws {
        let result = await fixture.retrieveByCallback(
            [.onlyFromCache] + (probingApart ? [.asyncCacheTypeCheck] : []))
        guard case .failure(.cacheError(reason: .imageNotExisting(let key))) = result else {
            throw Unexpected(result)
        }
        #expect(key == fixture.url.absoluteString && fixture.origin.requestCount == 0)
    }

    /// Upstream: testImageShouldOnlyFromMemoryCacheOrRefreshCanBeGotFromMemory,
    /// testImageShouldOnlyFromMemoryCacheOrRefreshCanRefreshIfNotInMemory
    @Test func memoryOrRefreshIgnoresTheDisk() async throws {
        _ = try await fixture.retrieve()
        #expect(try await fixture.retrieve([.fromMemoryCacheOrRefresh]).cacheType == .memory)
        fixture.cache.clearMemoryCache()
        #expect(try await fixture.retrieve([.fromMemoryCacheOrRefresh]).cacheType == .none)
        #expect(fixture.origin.requestCount == 2)
    }

    @Test func anUnprocessedOriginalIsStoredByteForByte() async throws {
        _ = try await fixture.retrieve()
        let path = fixture.cache.cachePath(forKey: fixture.url.cacheKey)
        #expect(try Data(contentsOf: URL(filePath: path)) == fixture.png)
    }

    /// Upstream: testCouldProcessOnOriginalImageWithOriginalCache,
    /// testCacheOriginalImageWithOriginalCache
    @Test func theCachedOriginalIsProcessedWithoutADownload() async throws {
        let originals = try fixture.otherCache("originals")
        let options: KingfisherOptionsInfo = [
            .processor(CountingProcessor()), .cacheOriginalImage, .originalCache(originals),
        ]
        _ = try await fixture.retrieve(options)
        #expect(originals.imageCachedType(forKey: fixture.url.cacheKey) == .disk)
        await fixture.cache.clearCache()

        #expect(try await fixture.retrieve(options).cacheType == .none)
        #expect(fixture.origin.requestCount == 1)
        #expect(try await fixture.retrieve(options).cacheType == .memory)
    }

    /// Upstream: testRetrieveImageOriginalCacheClaimsCachedButReturnsNoneShouldStillCallback
    /// Defect: D-16
    @Test(arguments: [false, true])
    func anUndecodableCachedImageOrOriginalIsLoadedAgain(isOriginal: Bool) async throws {
        try await fixture.cache.storeToDisk(Data("no image".utf8), forKey: fixture.url.cacheKey)
        let options: KingfisherOptionsInfo = isOriginal ? [.processor(CountingProcessor())] : []
        #expect(try await fixture.retrieve(options).cacheType == .none)
        fixture.cache.clearMemoryCache()
        #expect(try await fixture.retrieve(options).cacheType == .disk)
        #expect(fixture.origin.requestCount == 1)
    }

    /// Upstream: testFailingProcessOnOriginalImage, testFailingProcessOnDataProviderImage
    @Test func aFailingProcessorIsNamedInTheError() async throws {
        let failing = CountingProcessor(identifier: "test.failing", gives: nil)
        try await fixture.cache.storeToDisk(fixture.png, forKey: fixture.url.cacheKey)
        let sources: [Source] = [
            .network(fixture.url),
            .provider(RawImageDataProvider(data: fixture.png, cacheKey: "raw")),
            .network(KF.ImageResource(downloadURL: fixture.url, cacheKey: "not cached")),
        ]
        for source in sources {
            let error = await fixture.start(source, [.processor(failing)]).result().error
            guard case .processorError(reason: .processingFailed(let processor, _)) = error else {
                throw Unexpected(error)
            }
            #expect(processor.identifier == "test.failing")
        }
    }

    /// Upstream: testShouldApplyImageModifierWhenDownload,
    /// testShouldApplyImageModifierWhenLoadFromMemoryCache,
    /// testShouldApplyImageModifierWhenLoadFromDiskCache, testImageModifierResultShouldNotBeCached
    @Test func theModifierChangesWhatIsDeliveredAndNothingCached() async throws {
        let modified: KingfisherOptionsInfo = [.imageModifier(AnyImageModifier { $0.withScale(3) })]
        for (options, scale) in [(modified, 3), ([], 1)] as [(KingfisherOptionsInfo, CGFloat)] {
            for _ in 0..<2 { #expect(try await fixture.retrieve(options).image.scale == scale) }
            fixture.cache.clearMemoryCache()
            #expect(try await fixture.retrieve(options).image.scale == scale)
        }
    }

    @Test func anImageLoadsThoughItsCacheFolderCannotBeMade() async throws {
        let cache = try fixture.folder.unwritableCache()
        #expect(try await fixture.retrieve([.targetCache(cache)]).cacheType == .none)
        #expect(try await fixture.retrieve([.targetCache(cache)]).cacheType == .memory)
    }

    /// Upstream: testDefaultOptionCouldApply
    @Test func theDefaultOptionsOfTheManagerApply() async throws {
        fixture.manager.defaultOptions = [.scaleFactor(2), .waitForCache]
        #expect(try await fixture.retrieve().image.scale == 2)
        #expect(try await fixture.retrieve([.forceRefresh, .scaleFactor(3)]).image.scale == 3)
    }

    /// Upstream: testRetrieveImageFromDiskCacheWithForcedExtension,
    /// testRetrieveImageFromOriginalCacheWithForcedExtension
    /// Defect: D-9
    @Test func forcedExtensionsNameTheFileOfImageAndOriginal() async throws {
        let options: KingfisherOptionsInfo = [
            .forcedCacheFileExtension("pic"), .processor(CountingProcessor()), .cacheOriginalImage,
        ]
        let (cache, key) = (fixture.cache, fixture.url.cacheKey)
        _ = try await fixture.retrieve(options)
        cache.clearMemoryCache()
        try await cache.removeImage(
            forKey: key, processorIdentifier: "test.counting", forcedExtension: "pic")
        #expect(try await fixture.retrieve(options).cacheType == .none)
        cache.clearMemoryCache()
        #expect(try await fixture.retrieve(options).cacheType == .disk)
        #expect(fixture.origin.requestCount == 1)
        for identifier in ["", "test.counting"] {
            let path = cache.cachePath(
                forKey: key, processorIdentifier: identifier, forcedExtension: "pic")
            #expect(path.hasSuffix(".pic") && FileManager.default.fileExists(atPath: path))
            cache.clearMemoryCache()
            #expect(cache.imageCachedType(forKey: key, processorIdentifier: identifier) == .none)
        }
    }
}
