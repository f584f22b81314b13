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

    @Test func aURLThatIsNotInTheTableFailsInWords() async throws {
        let error = await #expect(throws: KingfisherError.self) {
            try await environment.manager.retrieveImage(with: url)
        }
        #expect(error?.errorDescription?.contains("table") == true)
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
        #expect(try await environment.manager.retrieveImage(with: url).image.pixelSize.width == 2)
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

    // MARK: The guide

    @Test func aPictureIsLoadedFromTheTable() async throws {
        // guide: testing/environment
        let environment = try TestEnvironment()
        let url = URL(string: "https://example.com/bird.png")!
        let bird = Image.drawn(width: 8, height: 6) { x, _ in x < 4 ? .blue : .white }
        environment.transport.answer(url, with: try .image(bird))

        let result = try await environment.manager.retrieveImage(with: url)
        print(result.image.pixelSize, environment.transport.requestCount(for: url))
        // end
        #expect(result.image.pixelSize == PixelSize(width: 8, height: 6))
        #expect(try result.image.bitmap()[3, 1].blue > 0.99)
        #expect(try result.image.bitmap()[4, 1].red > 0.99)
        _ = try await environment.manager.retrieveImage(with: url)
        #expect(environment.transport.requests.map(\.url) == [url])
        #expect(try await TestingSnippets.comment() == PixelSize(width: 8, height: 8))
    }

    @Test func failuresAreRetried() async throws {
        // guide: testing/failures
        environment.transport.answer(
            url, with: .status(503),
            .failure(.connectionReset(url: url.absoluteString, reason: "test")),
            try .image(.solid(.red, width: 2, height: 2)))
        let retry = DelayRetryStrategy(maxRetryCount: 2, retryInterval: .seconds(0))
        let result = try await environment.manager.retrieveImage(
            with: url, options: [.retryStrategy(retry)])
        // end
        #expect(result.image.pixelSize.width == 2)
        // The last answer stays.
        _ = try await environment.manager.retrieveImage(with: url, options: [.forceRefresh])
        #expect(environment.transport.requestCount(for: url) == 4)
    }

    @Test func anAnswerComesWhenTheClockSaysSo() async throws {
        let (environment, url) = (environment, url)
        let picture = Image.solid(.blue, width: 5, height: 4)
        // guide: testing/time
        environment.transport.answer(url, with: try .image(picture).delayed(by: .seconds(3)))
        async let loading = environment.manager.retrieveImage(with: url)
        await environment.clock.waitForSleepers()
        // What is to be seen meanwhile is looked at here.
        environment.clock.advance(by: .seconds(3))
        let image = try await loading.image
        // end
        #expect(image.pixelSize.width == 5)
    }

    @Test func aFileTellsItsFormatAndSize() throws {
        let data = try Image.solid(.blue, width: 5, height: 4)
            .kf.data(format: .PNG, options: ImageEncodingOptions())
        // guide: formats/information
        let information = try ImageInformation(of: data)
        print(information.format, information.size, information.frameCount ?? 1)
        if let quality = information.jpegQuality { print("about quality", quality) }
        // end
        #expect(information.size == PixelSize(width: 5, height: 4))
        try TestingSnippets.information(data)
    }
}
