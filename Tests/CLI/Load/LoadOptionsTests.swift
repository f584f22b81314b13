import Halcyon
import Testing

@testable import HalcyonCLI

/// What the program asks of the manager.
@Suite struct LoadOptionsTests {
    private func options(
        _ sources: String..., keepsMetadata: Bool = false
    ) -> KingfisherParsedOptionsInfo {
        let plan = OutputPlan(
            destination: .nowhere, format: nil, quality: nil, keepsMetadata: keepsMetadata)
        let request = LoadRequest(
            arguments: sources.map(ImageArgument.init), processor: nil, plan: plan,
            cacheDirectory: nil, forceRefresh: false, onlyFromCache: false, usesHTTPCaching: false,
            resumes: false, jobs: 1, timeout: nil, limits: .default, trace: nil, isJSON: false,
            isQuiet: true)
        return KingfisherParsedOptionsInfo(request.options)
    }

    private func expires(_ options: KingfisherParsedOptionsInfo) -> Bool {
        if case .expired = options.memoryCacheExpiration { true } else { false }
    }

    @Test func picturesThatDoNotComeAgainAreNotKeptInMemory() {
        #expect(expires(options("a.png", "b.png")))
        #expect(!expires(options("a.png", "b.png", "a.png")))
    }

    @Test func thePositionIsKeptWithTheMetadataOnly() {
        #expect(!options("a.png").keepPositionInOriginal)
        #expect(options("a.png", keepsMetadata: true).keepPositionInOriginal)
    }
}
