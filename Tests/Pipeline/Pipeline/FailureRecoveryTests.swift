import Foundation
import Testing

@testable import Halcyon

@Suite struct FailureRecoveryTests {
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
}
