import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

@Suite struct KingfisherManagerTests {
    private let fixture: ManagerFixture

    init() async throws { fixture = try await ManagerFixture() }

    /// Upstream: testRetrieveImageAsync
    @Test func loadsThenFindsInMemoryThenOnDiskThenLoadsAgain() async throws {
        #expect(try await fixture.retrieve().cacheType == .none)
        #expect(try await fixture.retrieve().cacheType == .memory)
        fixture.cache.clearMemoryCache()
        let fromDisk = try await fixture.retrieve()
        #expect(fromDisk.cacheType == .disk)
        #expect(fromDisk.image.pixelSize == PixelSize(width: 64, height: 48))
        await fixture.cache.clearCache()
        #expect(try await fixture.retrieve().cacheType == .none)
        #expect(fixture.origin.requestCount == 2)
    }

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

    /// Upstream: testCouldProcessDoNotHappenWhenSerializerCachesTheProcessedData
    @Test func aDiskHitDoesNotRunTheProcessorAgain() async throws {
        let processor = CountingProcessor()
        _ = try await fixture.retrieve([.processor(processor)])
        fixture.cache.clearMemoryCache()
        let result = try await fixture.retrieve([.processor(processor)])
        #expect(result.cacheType == .disk)
        #expect(result.image.pixelSize == PixelSize(width: 3, height: 2))
        #expect(processor.runs.value == 1)
    }

    /// Upstream: testCouldProcessAgainWhenSerializerCachesOriginalData
    /// Defect: D-13
    @Test func aSerializerOfOriginalsMakesTheProcessorRunOnceForEachDiskHit() async throws {
        let processor = CountingProcessor()
        var serializer = DefaultCacheSerializer()
        serializer.preferCacheOriginalData = true
        let options: KingfisherOptionsInfo = [.processor(processor), .cacheSerializer(serializer)]
        _ = try await fixture.retrieve(options)
        fixture.cache.clearMemoryCache()
        let fromDisk = try await fixture.retrieve(options)
        #expect(fromDisk.cacheType == .disk)
        #expect(fromDisk.image.pixelSize == PixelSize(width: 3, height: 2))
        #expect(processor.runs.value == 2)
        let fromMemory = try await fixture.retrieve(options)
        #expect(fromMemory.cacheType == .memory)
        #expect(fromMemory.image.pixelSize == PixelSize(width: 3, height: 2))
        #expect(processor.runs.value == 2)
    }

    @Test func manyDiskHitsAtOnceDecodeAndProcessOnce() async throws {
        let processor = CountingProcessor()
        var serializer = DefaultCacheSerializer()
        serializer.preferCacheOriginalData = true
        let options: KingfisherOptionsInfo = [.processor(processor), .cacheSerializer(serializer)]
        _ = try await fixture.retrieve(options)
        fixture.cache.clearMemoryCache()
        try await withThrowingTaskGroup(of: CacheType.self) { group in
            for _ in 0..<300 {
                group.addTask { try await fixture.retrieve(options).cacheType }
            }
            for try await type in group { #expect(type.cached) }
        }
        #expect(processor.runs.value == 2)
        #expect(fixture.origin.requestCount == 1)
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
        var options: KingfisherOptionsInfo = [.onlyFromCache]
        if probingApart { options.append(.asyncCacheTypeCheck) }
        guard
            case .failure(.cacheError(reason: .imageNotExisting(let key))) =
                await fixture.retrieveByCallback(options)
        else {
            Issue.record("expected imageNotExisting")
            return
        }
        #expect(key == fixture.url.absoluteString)
        #expect(fixture.origin.requestCount == 0)
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

    @Test func cacheMemoryOnlyWritesNothingToDisk() async throws {
        _ = try await fixture.retrieve([.cacheMemoryOnly])
        #expect(fixture.cache.imageCachedType(forKey: fixture.url.cacheKey) == .memory)
        fixture.cache.clearMemoryCache()
        #expect(fixture.cache.imageCachedType(forKey: fixture.url.cacheKey) == .none)
    }

    /// Upstream: testOriginalImageCouldBeStored, testWaitForCacheOnRetrieveImageWithProcessor
    @Test func waitForCacheDeliversAfterTheDiskWasWritten() async throws {
        _ = try await fixture.retrieve([.processor(CountingProcessor()), .cacheOriginalImage])
        fixture.cache.clearMemoryCache()
        let key = fixture.url.cacheKey
        #expect(fixture.cache.imageCachedType(forKey: key) == .disk)
        #expect(
            fixture.cache.imageCachedType(forKey: key, processorIdentifier: "test.counting")
                == .disk)
    }

    @Test func anUnprocessedOriginalIsStoredByteForByte() async throws {
        _ = try await fixture.retrieve()
        let path = fixture.cache.cachePath(forKey: fixture.url.cacheKey)
        #expect(try Data(contentsOf: URL(filePath: path)) == fixture.png)
    }

    /// Upstream: testOriginalImageNotBeStoredWithoutOptionSet
    @Test func withoutCacheOriginalImageTheOriginalIsNotStored() async throws {
        _ = try await fixture.retrieve([.processor(CountingProcessor())])
        #expect(fixture.cache.imageCachedType(forKey: fixture.url.cacheKey) == .none)
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

        let result = try await fixture.retrieve(options)
        #expect(result.cacheType == .none)
        #expect(fixture.origin.requestCount == 1)
        #expect(try await fixture.retrieve(options).cacheType == .memory)
    }

    /// Upstream: testRetrieveImageOriginalCacheClaimsCachedButReturnsNoneShouldStillCallback
    @Test func anUndecodableCachedOriginalIsLoadedAgain() async throws {
        try await fixture.cache.storeToDisk(Data("no image".utf8), forKey: fixture.url.cacheKey)
        let result = try await fixture.retrieve([.processor(CountingProcessor())])
        #expect(result.cacheType == .none)
        #expect(fixture.origin.requestCount == 1)
    }

    /// Defect: D-16
    @Test func anUndecodableCachedImageIsLoadedAgain() async throws {
        try await fixture.cache.storeToDisk(Data("no image".utf8), forKey: fixture.url.cacheKey)
        #expect(try await fixture.retrieve().cacheType == .none)
        fixture.cache.clearMemoryCache()
        #expect(try await fixture.retrieve().cacheType == .disk)
        #expect(fixture.origin.requestCount == 1)
    }

    /// Upstream: testFailingProcessOnOriginalImage, testFailingProcessOnDataProviderImage
    @Test func aFailingProcessorIsNamedInTheError() async throws {
        let failing = CountingProcessor(identifier: "test.failing", gives: nil)
        try await fixture.cache.storeToDisk(fixture.png, forKey: fixture.url.cacheKey)
        let providers: [Source] = [
            .network(fixture.url),
            .provider(RawImageDataProvider(data: fixture.png, cacheKey: "raw")),
            .network(KF.ImageResource(downloadURL: fixture.url, cacheKey: "not cached")),
        ]
        for source in providers {
            let error = await kingfisherError {
                _ = try await fixture.manager.retrieveImage(
                    with: source, options: [.processor(failing)])
            }
            guard case .processorError(reason: .processingFailed(let processor, _)) = error else {
                Issue.record("\(source.cacheKey): \(String(describing: error))")
                continue
            }
            #expect(processor.identifier == "test.failing")
        }
    }

    /// Upstream: testShouldApplyImageModifierWhenDownload,
    /// testShouldApplyImageModifierWhenLoadFromMemoryCache,
    /// testShouldApplyImageModifierWhenLoadFromDiskCache, testImageModifierResultShouldNotBeCached
    @Test func theModifierChangesWhatIsDeliveredAndNothingCached() async throws {
        let modifier = AnyImageModifier { $0.withScale(3) }
        let options: KingfisherOptionsInfo = [.imageModifier(modifier)]
        #expect(try await fixture.retrieve(options).image.scale == 3)
        #expect(try await fixture.retrieve(options).image.scale == 3)
        fixture.cache.clearMemoryCache()
        #expect(try await fixture.retrieve(options).image.scale == 3)
        #expect(try await fixture.retrieve().image.scale == 1)
        fixture.cache.clearMemoryCache()
        #expect(try await fixture.retrieve().image.scale == 1)
    }

    /// Upstream: testDefaultOptionCouldApply
    @Test func theDefaultOptionsOfTheManagerApply() async throws {
        fixture.manager.defaultOptions = [.scaleFactor(2), .waitForCache]
        #expect(try await fixture.retrieve().image.scale == 2)
        #expect(try await fixture.retrieve([.forceRefresh, .scaleFactor(3)]).image.scale == 3)
    }

    @Test func theResultCarriesTheBytesThatWereLoaded() async throws {
        #expect(try await fixture.retrieve().data() == fixture.png)
        let cached = try await fixture.retrieve()
        #expect(cached.data()?.kf.imageFormat == .PNG)
    }

    /// Defect: D-9
    @Test func forcedExtensionsNameTheFileOfImageAndOriginal() async throws {
        let options: KingfisherOptionsInfo = [
            .forcedCacheFileExtension("pic"), .processor(CountingProcessor()), .cacheOriginalImage,
        ]
        _ = try await fixture.retrieve(options)
        await fixture.cache.removeImageFromAll(
            key: fixture.url.cacheKey, processor: "test.counting", forcedExtension: "pic")
        #expect(try await fixture.retrieve(options).cacheType == .none)
        #expect(fixture.origin.requestCount == 1)
        let path = fixture.cache.cachePath(
            forKey: fixture.url.cacheKey, forcedExtension: "pic")
        #expect(path.hasSuffix(".pic"))
        #expect(FileManager.default.fileExists(atPath: path))
    }

    @Test func anAnimationLoadedAsFirstFrameIsMadeWholeFromMemory() async throws {
        let frames = (0..<4).map {
            GIFFixture.Frame(
                .solid(Pixel(gray: UInt8($0 * 60)), width: 8, height: 8), delay: 10)
        }
        fixture.origin.route("/a.gif", .ok(GIFFixture.data(frames), contentType: "image/gif"))
        let url = fixture.origin.url("/a.gif")
        let first = try await fixture.manager.retrieveImage(
            with: url, options: [.onlyLoadFirstFrame])
        #expect(first.image.frameCount == 1)
        let whole = try await fixture.manager.retrieveImage(with: url)
        #expect(whole.cacheType == .memory)
        #expect(whole.image.frameCount == 4)
        #expect(fixture.origin.requestCount == 1)
    }
}

extension ImageCache {
    fileprivate func removeImageFromAll(
        key: String, processor: String, forcedExtension: String
    ) async {
        clearMemoryCache()
        // Absence is what is wanted.
        try? await removeImage(
            forKey: key, processorIdentifier: processor, forcedExtension: forcedExtension)
    }
}
