import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

@Suite(.timeLimit(.minutes(20))) struct SizeOptionTests {
    private let sizes = Recorder<PixelSize>()
    private let fixture: ManagerFixture

    init() async throws { fixture = try await ManagerFixture() }

    private func listening() -> KingfisherOptionsInfo {
        [.callbackQueue(.untouch), .onSize { [sizes] in sizes.record($0) }]
    }

    /// A download that stops in the middle until the gate is opened.
    private func hold() -> Gate {
        let gate = Gate()
        fixture.origin.route(
            "/photo.png", .png(fixture.png).with(.hold(afterBytes: 200, .gate(gate))))
        return gate
    }

    private static let size = PixelSize(64, 48)

    @Test func eachOfTwoWhoShareADownloadIsToldOnce() async throws {
        // Its first bytes tell the size.
        let gate = hold()
        async let first = fixture.retrieve(listening())
        await sizes.waitFor(count: 1)
        // What is known is told to those who join later.
        async let second = fixture.retrieve(listening())
        await sizes.waitFor(count: 2)
        gate.open()
        _ = try await (first, second)
        #expect(sizes.events == [Self.size, Self.size])
        #expect(fixture.origin.requests(for: "/photo.png").count == 1)
    }

    @Test func aCachedImageTellsItsSize() async throws {
        _ = try await fixture.retrieve()
        let memory = try await fixture.retrieve(listening())
        #expect(memory.cacheType == .memory && sizes.count == 1)
        fixture.cache.clearMemoryCache()
        let disk = try await fixture.retrieve(listening())
        #expect(disk.cacheType == .disk && sizes.events == [Self.size, Self.size])
    }

    /// The file is not known any more when its result comes from the cache.
    @Test func ofAResultInTheCacheItsOwnSizeIsTold() async throws {
        let processor = DownsamplingImageProcessor(size: CGSize(width: 32, height: 24))
        for _ in 0..<2 { _ = try await fixture.retrieve(listening() + [.processor(processor)]) }
        #expect(sizes.events == [Self.size, PixelSize(32, 24)])
    }

    @Test func theSizeComesBeforeTheCompletion() async throws {
        let order = Recorder<String>()
        fixture.manager.retrieveImage(
            with: fixture.url,
            options: [.callbackQueue(.untouch), .onSize { _ in order.record("size") }]
        ) { _ in order.record("image") }
        await order.waitFor(count: 2)
        #expect(order.events == ["size", "image"])
    }

    @Test func aFailureTellsNoSize() async throws {
        fixture.origin.route("/photo.png", .status(404))
        let error = await kingfisherError { _ = try await fixture.retrieve(listening()) }
        #expect(error != nil && sizes.count == 0)
    }

    @MainActor @Test func theBuilderTellsItOnTheMainActor() async throws {
        let fixture = try await PresentationFixture()
        let view = HeadlessImageView()
        let told = sizes
        let done = Recorder<Bool>()
        KF.url(fixture.url(width: 5))
            .targetCache(fixture.cache).downloader(fixture.downloader)
            .onSize { size in
                MainActor.preconditionIsolated()
                told.record(size)
            }
            .onSuccess { _ in done.record(true) }
            .onFailure { _ in done.record(false) }
            .set(to: view)
        await done.waitFor(count: 1)
        #expect(done.events == [true])
        #expect(told.events == [view.image?.pixelSize])
    }
}
