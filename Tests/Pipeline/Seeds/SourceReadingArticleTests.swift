import Foundation
import FoundationNetworking
import HalcyonTestKit
import Testing

@testable import Halcyon

/// An article that reads the library's source: what it shows that is no view.
@Suite struct SourceReadingArticleTests {
    let fixture: ManagerFixture

    init() async throws {
        fixture = try await ManagerFixture()
    }

    // MARK: The wrapper

    @Test func theWrapperGivesAClassOrAValueANamespace() {
        let subject = Subject(name: "view")
        #expect(subject.kf.greeting == "hello view")
        #expect(Length(value: 3).kf.doubled == 6)
    }

    // MARK: Sources

    @Test func aSourceIsAResourceOrAProvider() {
        let network = Source.network(fixture.url)
        #expect(network.asResource?.downloadURL == fixture.url)
        #expect(network.asProvider == nil)
        let provider = Source.provider(RawImageDataProvider(data: fixture.png, cacheKey: "raw"))
        #expect(provider.asResource == nil)
        #expect(provider.asProvider?.cacheKey == "raw")
    }

    // MARK: Options

    @Test func theOptionsOfTheArticleAreParsed() throws {
        let cache = try fixture.otherCache("target")
        let originals = try fixture.otherCache("originals")
        let options = KingfisherParsedOptionsInfo([
            .targetCache(cache),
            .originalCache(originals),
            .downloader(fixture.downloader),
            .transition(.fade(0.3)),
            .forceRefresh,
            .fromMemoryCacheOrRefresh,
            .forceTransition,
            .cacheMemoryOnly,
            .waitForCache,
            .onlyFromCache,
            .backgroundDecode,
            .scaleFactor(2),
        ])
        #expect(options.targetCache === cache)
        #expect(options.originalCache === originals)
        #expect(options.downloader === fixture.downloader)
        #expect(options.forceRefresh && options.fromMemoryCacheOrRefresh)
        #expect(options.cacheMemoryOnly && options.waitForCache && options.onlyFromCache)
        #expect(options.backgroundDecode && options.forceTransition)
        guard case .fade(let duration) = options.transition else {
            Issue.record("expected the fade")
            return
        }
        #expect(duration == 0.3)
        #expect(options.scaleFactor == 2)
    }

    // MARK: Manager and downloader

    @Test func theDownloaderGivesAResultThatIsHandled() async throws {
        let resource: any Resource = fixture.url
        let options = KingfisherParsedOptionsInfo([
            .downloader(fixture.downloader), .callbackQueue(.untouch),
        ])
        let values = Recorder<ImageLoadingResult>()
        let errors = Recorder<KingfisherError>()
        let handle: @Sendable (ImageLoadingResult) -> Void = { values.record($0) }
        let fail: @Sendable (KingfisherError) -> Void = { errors.record($0) }

        @Sendable func cacheImage(_ result: Result<ImageLoadingResult, KingfisherError>) {
            switch result {
            case .success(let value):
                handle(value)
            case .failure(let error):
                fail(error)
            }
        }

        let downloader = options.downloader ?? ImageDownloader.default
        let task = downloader.downloadImage(
            with: resource.downloadURL,
            options: options,
            completionHandler: cacheImage)
        #expect(task.sessionTask?.originalURL == fixture.url)
        let value = await values.waitFor(count: 1)[0]
        #expect(value.originalData == fixture.png)
        #expect(errors.events.isEmpty)

        downloader.downloadImage(
            with: fixture.origin.url("/missing"), options: options, completionHandler: cacheImage)
        #expect(await errors.waitFor(count: 1)[0].isInvalidResponseStatusCode(404))
    }

    @Test func requestsAreNeverAnsweredByACacheOfTheTransport() async throws {
        let seen = Recorder<URLRequest>()
        let modifier = AnyModifier { request in
            seen.record(request)
            return request
        }
        fixture.origin.route(
            "/photo.png", .png(fixture.png).cacheControl("max-age=3600"))
        for _ in 0..<2 {
            _ = try await fixture.retrieve([.requestModifier(modifier), .forceRefresh])
        }
        let url = fixture.url
        let downloadTimeout = fixture.downloader.downloadTimeout
        let expected = URLRequest(
            url: url, cachePolicy: .reloadIgnoringLocalCacheData, timeoutInterval: downloadTimeout)
        #expect(seen.events.map(\.cachePolicy) == [expected.cachePolicy, expected.cachePolicy])
        #expect(seen.events.first?.timeoutInterval == expected.timeoutInterval)
        #expect(fixture.origin.requestCount == 2)
    }
}

// MARK: The article's code

extension Source {
    fileprivate var asResource: (any Resource)? {
        guard case .network(let resource) = self else {
            return nil
        }
        return resource
    }

    fileprivate var asProvider: (any ImageDataProvider)? {
        guard case .provider(let provider) = self else {
            return nil
        }
        return provider
    }
}

private final class Subject {
    let name: String

    init(name: String) { self.name = name }
}

extension Subject: KingfisherCompatible {}

extension KingfisherWrapper where Base: Subject {
    fileprivate var greeting: String { "hello \(base.name)" }
}

private struct Length {
    let value: Int
}

extension Length: KingfisherCompatibleValue {}

extension KingfisherWrapper where Base == Length {
    fileprivate var doubled: Int { base.value * 2 }
}
