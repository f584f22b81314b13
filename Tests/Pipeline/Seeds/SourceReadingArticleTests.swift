import Foundation
import FoundationNetworking
import HalcyonTestKit
import Testing

@testable import Halcyon

/// An article that reads the library's source: what it shows of it.
@Suite struct SourceReadingArticleTests {
    let fixture: ManagerFixture

    init() async throws {
        fixture = try await ManagerFixture()
    }

    @MainActor @Test func theWrapperGivesAClassOrAValueANamespace() {
        #expect(Subject(name: "view").kf.greeting == "hello view")
        #expect(Length(value: 3).kf.doubled == 6)
        let imageView = HeadlessImageView()
        imageView.image = testImage(width: 6)
        #expect(imageView.kf.widthOnShow == 6)
    }

    /// In a view the image is round before it is shown and cached.
    @MainActor @Test func aViewIsSetWithPlaceholderIndicatorAndProcessor() async throws {
        let imageView = HeadlessImageView()
        let placeholder = NotedPlaceholder()
        let processor = RoundCornerImageProcessor(cornerRadius: 20)
        let results = Results()
        imageView.kf.indicatorType = .activity
        imageView.kf.setImage(
            with: fixture.url, placeholder: placeholder,
            options: [
                .processor(processor), .targetCache(fixture.cache),
                .downloader(fixture.downloader), .waitForCache,
            ], completionHandler: results.add())
        #expect(imageView.overlays.first?.view.isHidden == false)
        _ = await results.wait(for: 1)
        #expect(imageView.overlays.first?.view.isHidden == true)
        #expect(placeholder.calls.events == ["add", "remove"])
        #expect(try #require(imageView.image).bitmap()[0, 0].alpha < 1)
        #expect(
            fixture.cache.isCached(
                forKey: fixture.url.cacheKey, processorIdentifier: processor.identifier))
    }

    @Test func aSourceIsAResourceOrAProvider() {
        let network = Source.network(fixture.url)
        #expect(network.asResource?.downloadURL == fixture.url && network.asProvider == nil)
        let provider = Source.provider(RawImageDataProvider(data: fixture.png, cacheKey: "raw"))
        #expect(provider.asResource == nil && provider.asProvider?.cacheKey == "raw")
    }

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
        #expect(value.originalData == fixture.png && errors.events.isEmpty)

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
        fixture.origin.route("/photo.png", .png(fixture.png).cacheControl("max-age=3600"))
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

@MainActor extension KingfisherWrapper where Base: KFCrossPlatformImageView {
    fileprivate var widthOnShow: Int? { base.image?.pixelSize.width }
}

private struct NotedPlaceholder: Placeholder {
    let calls = Recorder<String>()

    func add(to imageView: any KFCrossPlatformImageView) { calls.record("add") }

    func remove(from imageView: any KFCrossPlatformImageView) { calls.record("remove") }
}
