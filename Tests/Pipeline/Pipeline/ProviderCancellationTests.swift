import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

@Suite struct ProviderCancellationTests {
    private let fixture: ManagerFixture
    private let gate = Gate()

    init() async throws { fixture = try await ManagerFixture() }

    /// Upstream: testProviderDeliversWhenNotCancelled, testRetrieveWithImageProvider
    @Test func aProviderDeliversWhenItIsReady() async throws {
        let request = fixture.start(.provider(StubbornProvider(gate: gate, bytes: fixture.png)))
        #expect(request.task?.isInitialized == true && request.results.count == 0)
        gate.open()
        let result = try await request.result().get()
        #expect(result.image.pixelSize == PixelSize(width: 64, height: 48))
        #expect(result.data() == fixture.png)
    }

    /// Upstream: testCancelSuppressesLateSuccessFromNonCooperativeProvider,
    /// testRetrieveImageWithAsyncCacheTypeCheckCancelsProviderBackedShell
    @Test(arguments: [false, true])
    func aProviderThatGoesOnIsNotWaitedFor(probingApart: Bool) async throws {
        let provider = StubbornProvider(gate: gate, bytes: fixture.png)
        let request = fixture.start(.provider(provider), probingApart ? [.asyncCacheTypeCheck] : [])
        let task = try #require(request.task)
        await gate.waitForWaiters(1)
        task.cancel()
        // The gate is still closed.
        #expect(await request.result().errorCode == 1006)
        gate.open()
        await provider.finished.waitFor(count: 1)
        _ = try await fixture.retrieve()
        #expect(request.results.count == 1 && !fixture.cache.isCached(forKey: provider.cacheKey))
    }

    /// Upstream: testCancellingProviderTaskDeliversCancelledError,
    /// testCancelPropagatesIntoCooperativeAsyncProvider
    @Test func cancellingAProviderLoadIsToldAsSuch() async throws {
        let request = fixture.start(.provider(CountingProvider(bytes: fixture.png, gate: gate)))
        let task = try #require(request.task)
        await gate.waitForWaiters(1)
        task.cancel()
        let error = await request.result().error
        #expect(error?.errorCode == 1006 && error?.isCancelled == true)
    }
}
