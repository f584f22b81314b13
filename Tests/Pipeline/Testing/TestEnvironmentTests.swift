import Foundation
import FoundationNetworking
import Halcyon
import HalcyonTesting
import Testing

@Suite(.timeLimit(.minutes(20))) struct TestEnvironmentTests {
    private let environment: TestEnvironment
    private let url = URL(string: "https://example.com/bird.png")!

    init() throws {
        environment = try TestEnvironment()
    }

    @Test func theTableAnswersAndCounts() async throws {
        let picture = Image.drawn(width: 3, height: 2) { x, _ in x == 0 ? .red : .blue }
        environment.transport.answer(url, with: try .image(picture))
        let result = try await environment.manager.retrieveImage(with: url)
        #expect(try result.image.bitmap()[0, 1].red > 0.99)
        #expect(try result.image.bitmap()[2, 0].blue > 0.99)
        _ = try await environment.manager.retrieveImage(with: url)
        #expect(environment.transport.requestCount(for: url) == 1)
        #expect(environment.transport.requests.map(\.url) == [url])
    }

    @Test func aURLThatIsNotInTheTableFailsInWords() async throws {
        let error = await #expect(throws: KingfisherError.self) {
            try await environment.manager.retrieveImage(with: url)
        }
        #expect(error?.errorDescription?.contains("table") == true)
    }

    @Test func answersFollowEachOtherAndTheLastStays() async throws {
        environment.transport.answer(
            url, with: .status(500), try .image(.solid(.red, width: 1, height: 1)))
        await #expect(throws: KingfisherError.self) {
            try await environment.manager.retrieveImage(with: url)
        }
        for _ in 0..<2 {
            _ = try await environment.manager.retrieveImage(with: url, options: [.forceRefresh])
        }
        #expect(environment.transport.requestCount(for: url) == 3)
    }

    @Test func aNetworkThatHasGoneFailsEverything() async throws {
        environment.transport.answer(url, with: try .image(.solid(.red, width: 1, height: 1)))
        environment.transport.failAll(
            with: .cannotResolveHost(host: "example.com", reason: "no network"))
        await #expect(throws: KingfisherError.self) {
            try await environment.manager.retrieveImage(with: url)
        }
        environment.transport.failAll(with: nil)
        _ = try await environment.manager.retrieveImage(with: url)
    }

    @Test func redirectsAreFollowed() async throws {
        let other = URL(string: "https://example.com/other.png")!
        environment.transport.answer(url, with: .redirect(to: other))
        environment.transport.answer(other, with: try .image(.solid(.red, width: 2, height: 1)))
        let result = try await environment.manager.retrieveImage(with: url)
        #expect(result.image.pixelSize.width == 2)
    }

    @Test func piecesComeWhenTheClockMoves() async throws {
        let file = try Image.solid(.red, width: 20, height: 20)
            .kf.data(format: .PNG, options: ImageEncodingOptions())
        environment.transport.answer(
            url, with: TestAnswer.data(file).inPieces(of: 10, every: .seconds(1)))
        let manager = environment.manager
        async let loading = manager.retrieveImage(with: url)
        // The first piece comes with the header, and each of the others is waited for.
        let steps = (file.count - 1) / 10
        #expect(steps > 1)
        for _ in 0..<steps {
            await environment.clock.waitForSleepers()
            #expect(!manager.cache.isCached(forKey: url.cacheKey))
            #expect(environment.clock.advanceToNextDeadline() == .seconds(1))
        }
        #expect(try await loading.image.pixelSize.width == 20)
        #expect(environment.clock.advanceToNextDeadline() == nil)
    }

    @Test func whatExpiresGoesByTheClock() async throws {
        environment.transport.answer(url, with: try .image(.solid(.red, width: 2, height: 1)))
        _ = try await environment.manager.retrieveImage(with: url, options: [.waitForCache])
        #expect(environment.cache.imageCachedType(forKey: url.cacheKey) == .memory)
        environment.clock.advance(by: .seconds(400))
        #expect(environment.cache.imageCachedType(forKey: url.cacheKey) == .disk)
        environment.clock.advance(by: .seconds(8 * 24 * 3600))
        #expect(environment.cache.imageCachedType(forKey: url.cacheKey) == .none)
    }

    @Test func theCacheGoesWithItsEnvironment() async throws {
        var other: TestEnvironment? = try TestEnvironment()
        let folder = try #require(other?.cache.diskStorage.directoryURL)
        #expect(FileManager.default.fileExists(atPath: folder.path))
        other = nil
        #expect(!FileManager.default.fileExists(atPath: folder.path))
        _ = other
    }

    @Test func theGuideDoesWhatItSays() async throws {
        #expect(try await TestingSnippets.environment() == (PixelSize(width: 8, height: 6), 1))
        let failed = try await TestingSnippets.failures(environment, url)
        #expect(failed.pixelSize.width == 2)
        #expect(environment.transport.requestCount(for: url) == 3)
        let other = URL(string: "https://example.com/other.png")!
        let picture = Image.solid(.blue, width: 5, height: 4)
        let late = try await TestingSnippets.time(environment, other, picture)
        #expect(late.pixelSize.width == 5)
        let file = try picture.kf.data(format: .PNG, options: ImageEncodingOptions())
        #expect(try TestingSnippets.size(of: file) == PixelSize(width: 5, height: 4))
    }
}
