import Halcyon
import Testing

@testable import HalcyonCLI

/// What the program asks of the manager.
@Suite struct LoadOptionsTests {
    private func options(
        _ sources: String..., keepsMetadata: Bool = false
    ) -> KingfisherParsedOptionsInfo {
        KingfisherParsedOptionsInfo(
            LoadRequest.options(
                of: sources.map(ImageArgument.init), keepsMetadata: keepsMetadata))
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
