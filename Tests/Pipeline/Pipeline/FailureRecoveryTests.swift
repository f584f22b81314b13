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

    /// Upstream: testContextRemovingAlternativeSource, testContextAppendErrorIsThreadSafe,
    /// testContextPopAlternativeSourceIsThreadSafe
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

    @Test func theLowDataSourceIsLoadedOnce() {
        let spared = KingfisherError.responseError(
            reason: .URLSessionError(error: ImageTransportError.lowDataMode(url: "a")))
        var recovery = recovery(alternatives: 0, lowData: source(7))
        #expect(recovery.fallback(after: spared, of: source(0)).source == source(7))
        #expect(recovery.fallback(after: spared, of: source(0)).source == nil)
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
