import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

@Suite struct KingfisherOptionsInfoTests {
    /// Options that switch one thing on, and what that is.
    private let flags: [(KingfisherOptionsInfoItem, KeyPath<KingfisherParsedOptionsInfo, Bool>)] = [
        (.forceRefresh, \.forceRefresh),
        (.fromMemoryCacheOrRefresh, \.fromMemoryCacheOrRefresh),
        (.cacheMemoryOnly, \.cacheMemoryOnly), (.waitForCache, \.waitForCache),
        (.onlyFromCache, \.onlyFromCache), (.backgroundDecode, \.backgroundDecode),
        (.preloadAllAnimationData, \.preloadAllAnimationData),
        (.onlyLoadFirstFrame, \.onlyLoadFirstFrame),
        (.cacheOriginalImage, \.cacheOriginalImage),
        (.keepPositionInOriginal, \.keepPositionInOriginal),
        (.loadDiskFileSynchronously, \.loadDiskFileSynchronously),
        (.asyncCacheTypeCheck, \.asyncCacheTypeCheck), (.forceTransition, \.forceTransition),
        (.alsoPrefetchToMemory, \.alsoPrefetchToMemory),
        (.keepCurrentImageWhileLoading, \.keepCurrentImageWhileLoading),
        (.cancelWhenSuperseded, \.cancelWhenSuperseded),
    ]

    /// Upstream: testEmptyOptionsShouldParseCorrectly
    @Test(arguments: [nil, []] as [KingfisherOptionsInfo?])
    func withoutItemsTheDefaultsHold(info: KingfisherOptionsInfo?) {
        let options = KingfisherParsedOptionsInfo(info)
        #expect(options.targetCache == nil && options.originalCache == nil)
        #expect(options.downloader == nil && flags.allSatisfy { !options[keyPath: $0.1] })
        #expect(options.callbackQueue.isMainCurrentOrAsync && options.scaleFactor == 1)
        #expect(options.requestModifier == nil && options.redirectHandler == nil)
        #expect(options.processor.identifier == DefaultImageProcessor.default.identifier)
        #expect(options.cacheSerializer is DefaultCacheSerializer && options.imageModifier == nil)
        #expect(options.diskStoreWriteOptions == [])
        #expect(options.memoryCacheExpiration == nil && options.diskCacheExpiration == nil)
        #expect(options.memoryCacheAccessExtendingExpiration.isCacheTime)
        #expect(options.diskCacheAccessExtendingExpiration.isCacheTime)
        #expect(options.processingQueue == nil && options.forcedExtension == nil)
        #expect(options.alternativeSources == nil && options.lowDataModeSource == nil)
        #expect(options.retryStrategy == nil && options.downloadPriority == 0.5)
        #expect(options.progressiveJPEG?.scanInterval == nil)
        #expect(options.transition.fadeDuration == nil)
        if case .some = options.onFailureImage { Issue.record("there is no failure image") }
        #expect(options.imageCreatingOptions == ImageCreatingOptions())
    }

    /// Upstream: testSetOptionsShouldParseCorrectly
    @Test func everyFlagSwitchesOneThingOn() {
        for (item, _) in flags {
            let options = KingfisherParsedOptionsInfo([item])
            let others = flags.filter { options[keyPath: $0.1] }
            #expect(others.count == 1, "\(item)")
        }
        let all = KingfisherParsedOptionsInfo(flags.map(\.0))
        #expect(flags.allSatisfy { all[keyPath: $0.1] })
    }

    /// Upstream: testSetOptionsShouldParseCorrectly
    @Test func everyValueIsParsed() throws {
        let folder = try TemporaryDirectory()
        let target = try ImageCache(name: "target", cacheDirectoryURL: folder.url)
        let original = try ImageCache(name: "original", cacheDirectoryURL: folder.url)
        let downloader = ImageDownloader(name: "options")
        let url = try #require(URL(string: "https://example.com/a.png"))
        let options = KingfisherParsedOptionsInfo([
            .targetCache(target), .originalCache(original), .downloader(downloader),
            .callbackQueue(.untouch), .scaleFactor(2),
            .requestModifier(AnyModifier { _ in nil }),
            .redirectHandler(AnyRedirectHandler { _, _, request, reply in reply(request) }),
            .processor(NamedProcessor(identifier: "named")),
            .cacheSerializer(FormatIndicatedCacheSerializer.png),
            .imageModifier(AnyImageModifier { $0 }),
            .diskStoreWriteOptions(.withoutOverwriting), .memoryCacheExpiration(.seconds(3)),
            .memoryCacheAccessExtendingExpiration(.none), .diskCacheExpiration(.days(3)),
            .diskCacheAccessExtendingExpiration(.none), .processingQueue(.untouch),
            .forcedCacheFileExtension("pic"), .alternativeSources([.network(url)]),
            .retryStrategy(DelayRetryStrategy(maxRetryCount: 4)), .lowDataMode(.network(url)),
            .preloadAllAnimationData,
        ])
        #expect(options.targetCache === target && options.originalCache === original)
        #expect(options.downloader === downloader && !options.callbackQueue.isMainCurrentOrAsync)
        #expect(options.scaleFactor == 2 && options.requestModifier is AnyModifier)
        #expect(options.redirectHandler is AnyRedirectHandler)
        #expect(options.processor.identifier == "named")
        #expect(options.cacheSerializer is FormatIndicatedCacheSerializer)
        #expect(options.imageModifier is AnyImageModifier)
        #expect(options.diskStoreWriteOptions == .withoutOverwriting)
        #expect(options.memoryCacheExpiration?.timeInterval == 3)
        #expect(!options.memoryCacheAccessExtendingExpiration.isCacheTime)
        #expect(options.diskCacheExpiration?.timeInterval == 259_200)
        #expect(!options.diskCacheAccessExtendingExpiration.isCacheTime)
        #expect(options.processingQueue != nil && options.forcedExtension == "pic")
        #expect(options.alternativeSources == [.network(url)])
        #expect((options.retryStrategy as? DelayRetryStrategy)?.maxRetryCount == 4)
        #expect(options.lowDataModeSource == .network(url))
        #expect(options.imageCreatingOptions == ImageCreatingOptions(scale: 2, preloadAll: true))
    }

    /// Upstream: testSetOptionsShouldParseCorrectly
    @Test func whatViewsAndDownloadsAreToldIsParsed() {
        let image = testImage()
        let options = KingfisherParsedOptionsInfo([
            .transition(.fade(2)), .downloadPriority(0.8), .onFailureImage(image),
            .progressiveJPEG(ImageProgressive(isBlur: false, isFastestScan: true, scanInterval: 3)),
        ])
        #expect(options.transition.fadeDuration == 2 && options.downloadPriority == 0.8)
        #expect(options.onFailureImage.flatMap { $0 } === image)
        #expect(options.progressiveJPEG?.scanInterval == 3)
        // No image to show in place of the placeholder is something else than none being given.
        let empty = KingfisherParsedOptionsInfo([.onFailureImage(nil)]).onFailureImage
        #expect(empty.map { $0 == nil } == true)
    }

    @Test func withoutACacheOfOriginalsTheTargetCacheIsIt() throws {
        let folder = try TemporaryDirectory()
        let cache = try ImageCache(name: "target", cacheDirectoryURL: folder.url)
        #expect(KingfisherParsedOptionsInfo([.targetCache(cache)]).originalCache === cache)
    }

    /// Upstream: testOptionCouldBeOverwritten
    @Test func theLastItemWins() {
        let options = KingfisherParsedOptionsInfo([
            .scaleFactor(2), .processor(NamedProcessor(identifier: "one")),
            .forcedCacheFileExtension("a"), .scaleFactor(3),
            .processor(NamedProcessor(identifier: "two")), .forcedCacheFileExtension(nil),
        ])
        #expect(options.scaleFactor == 3 && options.processor.identifier == "two")
        #expect(options.forcedExtension == nil)
    }
}

extension CallbackQueue {
    fileprivate var isMainCurrentOrAsync: Bool {
        if case .mainCurrentOrAsync = self { true } else { false }
    }
}

extension ImageTransition {
    fileprivate var fadeDuration: TimeInterval? {
        if case .fade(let duration) = self { duration } else { nil }
    }
}

extension ExpirationExtending {
    fileprivate var isCacheTime: Bool {
        if case .cacheTime = self { true } else { false }
    }
}
