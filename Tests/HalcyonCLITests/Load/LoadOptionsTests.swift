import Halcyon
import Testing

@testable import HalcyonCLI

/// What the program asks of the manager.
@Suite struct LoadOptionsTests {
    private func options(_ arguments: String...) throws -> KingfisherParsedOptionsInfo {
        let command = try #require(
            try HalcyonCommand.parseAsRoot(["load"] + arguments) as? LoadCommand)
        return KingfisherParsedOptionsInfo(try command.request().options)
    }

    private func expires(_ options: KingfisherParsedOptionsInfo) -> Bool {
        if case .expired = options.memoryCacheExpiration { true } else { false }
    }

    @Test func picturesThatDoNotComeAgainAreNotKeptInMemory() throws {
        #expect(expires(try options("a.png", "b.png")))
        #expect(!expires(try options("a.png", "b.png", "a.png")))
    }

    @Test func thePositionIsKeptWithTheMetadataOnly() throws {
        #expect(try !options("a.png", "-o", "b.png").keepPositionInOriginal)
        #expect(try options("a.png", "-o", "b.png", "--keep-metadata").keepPositionInOriginal)
    }
}
