import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

/// Cancelling what a data provider loads.
@Suite struct ProviderCancellationTests {
    private let fixture: ManagerFixture
    private let gate = Gate()

    init() async throws {
        fixture = try await ManagerFixture()
    }

    /// Upstream: testProviderDeliversWhenNotCancelled
    @Test func aProviderDeliversWhenItIsReady() async throws {
        let provider = StubbornProvider(gate: gate, bytes: fixture.png)
        let results = Recorder<Result<RetrieveImageResult, KingfisherError>>()
        let task = fixture.manager.retrieveImage(
            with: .provider(provider), options: [.callbackQueue(.untouch)]
        ) { results.record($0) }
        #expect(task?.isInitialized == true)
        #expect(results.count == 0)
        gate.open()
        let result = try await results.waitFor(count: 1)[0].get()
        #expect(result.image.pixelSize == PixelSize(width: 64, height: 48))
        #expect(result.data() == fixture.png)
    }

    /// Upstream: testCancelSuppressesLateSuccessFromNonCooperativeProvider
    @Test func aProviderThatGoesOnIsNotWaitedFor() async throws {
        let provider = StubbornProvider(gate: gate, bytes: fixture.png)
        let results = Recorder<Result<RetrieveImageResult, KingfisherError>>()
        let task = fixture.manager.retrieveImage(
            with: .provider(provider), options: [.callbackQueue(.untouch)]
        ) { results.record($0) }
        await gate.waitForWaiters(1)
        task?.cancel()
        // The gate is still closed.
        #expect(await results.waitFor(count: 1)[0].errorCode == 1006)
        gate.open()
        await provider.finished.waitFor(count: 1)
        _ = try await fixture.retrieve()
        #expect(results.count == 1)
        #expect(!fixture.cache.isCached(forKey: provider.cacheKey))
    }

    /// Upstream: testRetrieveImageWithAsyncCacheTypeCheckCancelsProviderBackedShell
    @Test func theShellOfAnApartProbeCancelsTheProvider() async throws {
        let provider = StubbornProvider(gate: gate, bytes: fixture.png)
        let results = Recorder<Result<RetrieveImageResult, KingfisherError>>()
        let task = fixture.manager.retrieveImage(
            with: .provider(provider), options: [.asyncCacheTypeCheck, .callbackQueue(.untouch)]
        ) { results.record($0) }
        let shell = try #require(task)
        await gate.waitForWaiters(1)
        shell.cancel()
        #expect(await results.waitFor(count: 1)[0].errorCode == 1006)
        gate.open()
    }
}
