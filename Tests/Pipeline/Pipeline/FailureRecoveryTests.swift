import Dispatch
import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

/// What follows a failed attempt.
@Suite struct FailureRecoveryTests {
    private let failure = KingfisherError.requestError(reason: .emptyRequest)

    private func source(_ number: Int) -> Source {
        .provider(RawImageDataProvider(data: Data(), cacheKey: "\(number)"))
    }

    private func recovery(
        alternatives: Int, lowData: Source? = nil
    ) -> FailureRecovery {
        FailureRecovery(
            KingfisherParsedOptionsInfo([
                .alternativeSources((1..<(alternatives + 1)).map(source)), .lowDataMode(lowData),
            ]))
    }

    /// Upstream: testContextRemovingAlternativeSource
    @Test func alternativesComeInTheirOrderAndThenTheErrorsOfAll() {
        var recovery = recovery(alternatives: 2)
        #expect(recovery.fallback(after: failure, of: source(0)).source == source(1))
        #expect(recovery.fallback(after: failure, of: source(1)).source == source(2))
        let end = recovery.fallback(after: failure, of: source(2))
        #expect(end.source == nil)
        #expect(end.exhausted?.map(\.source) == [source(0), source(1), source(2)])
    }

    @Test func withoutAlternativesTheErrorIsDeliveredAsItIs() {
        var recovery = recovery(alternatives: 0)
        guard case .fail(let error) = recovery.fallback(after: failure, of: source(0)) else {
            Issue.record("there is nothing to load")
            return
        }
        #expect(error.errorCode == 1001)
    }

    @Test func aCancellationOfAnyKindEndsTheRequest() {
        let provider = RawImageDataProvider(data: Data(), cacheKey: "0")
        for error in [
            KingfisherError.requestError(reason: .asyncTaskContextCancelled),
            .requestError(reason: .dataProviderCancelled(provider: provider)),
        ] {
            var recovery = recovery(alternatives: 1)
            #expect(recovery.fallback(after: error, of: source(0)).source == nil)
        }
    }

    /// Upstream: testContextAppendErrorIsThreadSafe, testContextPopAlternativeSourceIsThreadSafe
    @Test func threadsThatShareItGetEachAlternativeOnceAndLoseNoError() {
        let recovery = Locked(recovery(alternatives: 100))
        let loaded = Locked<[Source]>([])
        DispatchQueue.concurrentPerform(iterations: 100) { number in
            let next = recovery.withLock {
                $0.fallback(after: failure, of: source(1000 + number)).source
            }
            loaded.withLock { if let next { $0.append(next) } }
        }
        #expect(Set(loaded.value) == Set((1...100).map(source)))
        #expect(loaded.value.count == 100)
        let end = recovery.withLock { $0.fallback(after: failure, of: source(0)).exhausted }
        #expect(Set(end?.map(\.source) ?? []) == Set((1000..<1100).map(source) + [source(0)]))
        #expect(end?.count == 101)
    }

    /// Upstream: testContextTakeLowDataModeSourceIsThreadSafe
    @Test func threadsThatShareItGetTheLowDataSourceOnce() {
        let spared = KingfisherError.responseError(
            reason: .URLSessionError(error: ImageTransportError.lowDataMode(url: "a")))
        let recovery = Locked(recovery(alternatives: 0, lowData: source(7)))
        let loaded = Locked<[Source]>([])
        DispatchQueue.concurrentPerform(iterations: 100) { _ in
            let next = recovery.withLock { $0.fallback(after: spared, of: source(0)).source }
            loaded.withLock { if let next { $0.append(next) } }
        }
        #expect(loaded.value == [source(7)])
    }
}

extension FailureRecovery.Fallback {
    fileprivate var source: Source? {
        if case .load(let source) = self { source } else { nil }
    }

    fileprivate var exhausted: [PropagationError]? {
        guard case .fail(let error) = self,
            case .imageSettingError(reason: .alternativeSourcesExhausted(let errors)) = error
        else { return nil }
        return errors
    }
}
