import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

/// Requests that were superseded while they looked into a cache.
@Suite struct StaleRequestTests {
    private let fixture: ManagerFixture
    private let key: String

    init() async throws {
        fixture = try await ManagerFixture()
        key = fixture.url.cacheKey
        try await fixture.cache.storeToDisk(fixture.png, forKey: key)
    }

    private func run(
        _ options: KingfisherOptionsInfo = [], isCurrent: @escaping @Sendable () -> Bool
    ) async -> SettingResult {
        await ImageRequest(
            source: .network(fixture.url), options: fixture.manager.parsedOptions(options),
            probing: .onCallingThread, isCurrent: isCurrent
        ).run()
    }

    /// Upstream: testKingfisherManagerDoesNotRetryWhenDiskCacheRetrievalBecomesStale,
    /// testKingfisherManagerStaleDiskCacheResultInvokesCompletionOnceEvenWithRetryStrategy,
    /// testRetrieveImageFromCacheDoesNotUseAlternativeSourcesWhenResultIsStale,
    /// testRetrieveImageFromOriginalCacheWithProcessorDoesNotDownloadWhenResultIsStale
    @Test func nothingIsRetriedLoadedOrMadeInPlaceOfAStaleResult() async {
        let strategy = ScriptedRetryStrategy([.retry(userInfo: nil)])
        let processor = CountingProcessor()
        for option: KingfisherOptionsInfoItem in [
            .retryStrategy(strategy), .processor(processor),
            .alternativeSources([.network(fixture.origin.url("/other.png"))]),
        ] {
            #expect(await run([option]) { false }.errorCode == 3006)
        }
        #expect(strategy.calls.count == 0 && processor.runs.value == 0)
        #expect(fixture.origin.requestCount == 0)
        #expect(fixture.cache.imageCachedType(forKey: key) == .disk, "not promoted")
    }

    /// Upstream: testRetrieveImageFromOriginalCacheWithProcessorProcessesNormallyWhenCurrent
    @Test func aCurrentOriginalIsProcessedDeliveredAndCached() async throws {
        let processor = CountingProcessor()
        let result = try await run([.processor(processor)]) { true }.get()
        #expect(result.cacheType == .none && processor.runs.value == 1)
        #expect(result.image.pixelSize == PixelSize(width: 3, height: 2))
        #expect(
            fixture.cache.imageCachedType(forKey: key, processorIdentifier: processor.identifier)
                == .memory)
        #expect(fixture.origin.requestCount == 0)
    }
}
