import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

/// Requests for what another request has put into memory with another scale, or other frames.
@Suite struct OtherOptionsInMemoryTests {
    private let fixture: ManagerFixture
    private let gif: URL
    private let rounded = RoundCornerImageProcessor(cornerRadius: 2)

    init() async throws {
        fixture = try await ManagerFixture()
        fixture.origin.route("/a.gif", .ok(Grays.gif(4), contentType: "image/gif"))
        gif = fixture.origin.url("/a.gif")
    }

    private func frames(_ options: KingfisherOptionsInfo) async throws -> (Int, CacheType) {
        let result = try await fixture.manager.retrieveImage(with: gif, options: options)
        return (result.image.frameCount, result.cacheType)
    }

    /// Upstream: testDownsamplingHandleScale2x, testDownsamplingHandleScale3x
    /// Defect: D-29
    @Test(arguments: [[], [.httpCaching(.on)]] as [KingfisherOptionsInfo], [false, true])
    func theScaleIsThatOfTheRequest(
        options: KingfisherOptionsInfo, isProcessed: Bool
    ) async throws {
        fixture.origin.route(
            "/photo.png", .png(fixture.png).header("Cache-Control", "max-age=1000"))
        let small = DownsamplingImageProcessor(size: CGSize(width: 4, height: 3))
        let more: KingfisherOptionsInfo =
            isProcessed ? [.processor(small), .cacheOriginalImage] : []
        let options = options + more
        for scale in [1, 2, 3, 1, 2] {
            let image = try await fixture.retrieve(options + [.scaleFactor(CGFloat(scale))]).image
            #expect(image.scale == CGFloat(scale))
            let pixels =
                isProcessed
                ? PixelSize(width: 4 * scale, height: 3 * scale) : PixelSize(width: 64, height: 48)
            #expect(image.pixelSize == pixels)
            if isProcessed { #expect(image.size == CGSize(width: 4, height: 3)) }
        }
        #expect(fixture.origin.requestCount == 1)
        let last: KingfisherOptionsInfo = isProcessed ? [.scaleFactor(2)] : [.scaleFactor(7)]
        #expect(try await fixture.retrieve(options + last).cacheType == .memory)
    }

    @Test func whatIsInMemoryIsBetterThanNothing() async throws {
        let small = DownsamplingImageProcessor(size: CGSize(width: 4, height: 3))
        _ = try await fixture.retrieve([.processor(small)])
        let result = try await fixture.retrieve([
            .processor(small), .scaleFactor(2), .onlyFromCache,
        ])
        #expect(result.image.pixelSize == PixelSize(width: 4, height: 3))
        #expect(fixture.origin.requestCount == 1)
    }

    @Test func theFirstFrameAloneIsForTheRequestThatWantsIt() async throws {
        let whole: KingfisherOptionsInfo = [.processor(rounded)]
        #expect(try await frames(whole + [.onlyLoadFirstFrame]) == (1, .none))
        #expect(try await frames(whole).0 == 4)
        #expect(try await frames(whole) == (4, .memory))
        #expect(try await frames(whole + [.onlyLoadFirstFrame]) == (1, .memory))
    }

    @Test func anOriginalInMemoryLeavesNoFrameOut() async throws {
        #expect(try await frames([.onlyLoadFirstFrame]) == (1, .none))
        #expect(try await frames([.processor(rounded)]).0 == 4)
        #expect(try await frames([]) == (4, .memory))
        #expect(fixture.origin.requestCount == 1)
    }

    @Test func anOriginalInMemoryAddsNoFrame() async throws {
        #expect(try await frames([]) == (4, .none))
        #expect(try await frames([.processor(rounded), .onlyLoadFirstFrame]).0 == 1)
        #expect(fixture.origin.requestCount == 1)
    }

    @Test func aStillPictureServesBoth() async throws {
        let options: KingfisherOptionsInfo = [.processor(rounded)]
        _ = try await fixture.retrieve(options + [.onlyLoadFirstFrame])
        for more: KingfisherOptionsInfo in [[], [.onlyLoadFirstFrame]] {
            #expect(try await fixture.retrieve(options + more).cacheType == .memory)
        }
    }

    @Test(arguments: [[.scaleFactor(2)], [.onlyLoadFirstFrame], []] as [KingfisherOptionsInfo])
    func aProcessorThatMakesPixelsOfItsOwnRunsOnce(options: KingfisherOptionsInfo) async throws {
        let processor = CountingProcessor()
        for _ in 0..<3 { _ = try await fixture.retrieve(options + [.processor(processor)]) }
        #expect(try await fixture.retrieve([.processor(processor)] + options).cacheType == .memory)
        #expect(processor.runs.value == 1)
    }

    @Test func whatTheProgramHasStoredIsDeliveredAsItIs() async throws {
        let bitmap = try Image.decoding(fixture.png).bitmap()
        let stored = Image(bitmap: bitmap, scale: 3)
        try await fixture.cache.store(stored, forKey: fixture.url.cacheKey, toDisk: false)
        #expect(try await fixture.retrieve().image === stored)
        #expect(try await fixture.retrieve([.scaleFactor(2)]).image === stored)
        #expect(fixture.origin.requestCount == 0)
    }
}
