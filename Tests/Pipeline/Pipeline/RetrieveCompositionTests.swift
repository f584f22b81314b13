import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

@Suite struct RetrieveCompositionTests {
    let fixture: ManagerFixture
    let photos: [URL]
    let frame: URL
    private let layout = PhotoLayout.fourCut(
        size: CGSize(width: 60, height: 66), photoCornerRadius: 0, frameCornerRadius: 0)

    init() async throws {
        fixture = try await ManagerFixture()
        let colors: [Pixel] = [.red, .green, .blue, .white]
        for (index, color) in colors.enumerated() {
            fixture.origin.route(
                "/\(index).png", .png(PNGFixture.solid(color, width: 48, height: 32)))
        }
        fixture.origin.route("/frame.png", .png(PNGFixture.solid(.black, width: 60, height: 66)))
        photos = (0..<4).map { [fixture] in fixture.origin.url("/\($0).png") }
        frame = fixture.origin.url("/frame.png")
    }

    private var sources: [Source] { photos.map { .network($0) } }

    private func check(_ image: Image) throws {
        #expect(image.isRendered)
        let picture = try Picture(image)
        #expect(picture.width == 60 && picture[2, 2] == [0, 0, 0, 1])
        #expect(picture[16, 16] == [1, 0, 0, 1] && picture[44, 16] == [0, 1, 0, 1])
        #expect(picture[16, 44] == [0, 0, 1, 1] && picture[44, 44] == [1, 1, 1, 1])
    }

    @Test func loadsPhotosAndFrameAndPutsThemTogether() async throws {
        let progress = Recorder<ImageSetProgress>()
        let image = try await fixture.manager.retrieveComposition(
            layout, photos: sources, frame: .network(frame), progressBlock: { progress.record($0) })
        try check(image)
        #expect(fixture.origin.requestCount == 5)
        let last = await progress.wait { $0.last?.completedCount == 5 }.last
        #expect(last?.totalCount == 5)
        for url in photos + [frame] { #expect(fixture.cache.isCached(forKey: url.cacheKey)) }
    }

    @Test func nothingIsDeliveredBeforeEverythingIsThere() async throws {
        let gate = Gate()
        fixture.origin.route(
            "/2.png", .png(PNGFixture.solid(.blue, width: 48, height: 32)).with(.wait(.gate(gate))))
        let results = Recorder<Result<Image, KingfisherError>>()
        let progress = Recorder<Int>()
        fixture.manager.retrieveComposition(
            layout, photos: sources, frame: .network(frame), options: [.callbackQueue(.untouch)],
            progressBlock: { progress.record($0.completedCount) }
        ) { results.record($0) }
        await progress.wait { $0.contains(4) }
        #expect(results.events.isEmpty)
        gate.open()
        try check(await results.waitFor(count: 1)[0].get())
        #expect(results.count == 1)
    }

    @Test func oneFailureFailsThePicture() async {
        fixture.origin.route("/3.png", .status(500))
        let error = await kingfisherError {
            _ = try await fixture.manager.retrieveComposition(layout, photos: sources)
        }
        #expect(error?.isInvalidResponseStatusCode(500) == true)
    }

    @Test func cancellingEndsAllLoads() async {
        let gate = Gate()
        for index in 0..<4 {
            fixture.origin.route("/\(index).png", .png(fixture.png).with(.wait(.gate(gate))))
        }
        let results = Recorder<Bool>()
        let task = fixture.manager.retrieveComposition(
            layout, photos: sources, options: [.callbackQueue(.untouch)]
        ) { result in
            guard case .failure(let error) = result else { return results.record(false) }
            results.record(error.isCancelled)
        }
        await fixture.origin.waitForRequests(4)
        task.cancel()
        #expect(await results.waitFor(count: 1) == [true])
        gate.open()
    }

    @Test func photosWithoutASlotAreNotLoaded() async throws {
        var short = layout
        short.slots = [layout.slots[0]]
        _ = try await fixture.manager.retrieveComposition(short, photos: sources)
        #expect(fixture.origin.requestCount == 1)
    }

    @Test func theFrameMayHaveOptionsOfItsOwn() async throws {
        let small = DownsamplingImageProcessor(size: CGSize(width: 24, height: 24))
        _ = try await fixture.manager.retrieveComposition(
            layout, photos: sources, frame: .network(frame), options: [.processor(small)],
            frameOptions: [.waitForCache])
        #expect(
            fixture.cache.isCached(
                forKey: photos[0].cacheKey, processorIdentifier: small.identifier))
        #expect(fixture.cache.isCached(forKey: frame.cacheKey))
    }
}
