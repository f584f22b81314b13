import Foundation
import HalcyonGTK
import HalcyonTestKit
import Testing

@testable import Halcyon

@Suite struct ThumbnailImageProcessorTests {
    private func size(
        _ processor: ThumbnailImageProcessor, width: Int, height: Int, scale: CGFloat = 1
    ) async throws -> PixelSize {
        let data = PNGFixture.data(.solid(.red, width: width, height: height))
        let options = KingfisherParsedOptionsInfo([.scaleFactor(scale)])
        let image = try #require(processor.process(item: .data(data), options: options))
        return try await image.rendered().pixelSize
    }

    @Test func anImageLiesInItsPlaceOrCoversIt() async throws {
        let place = CGSize(width: 30, height: 30)
        let inside = ThumbnailImageProcessor(size: place)
        #expect(try await size(inside, width: 120, height: 60) == PixelSize(width: 30, height: 15))
        let covering = ThumbnailImageProcessor(size: place, fills: true)
        #expect(
            try await size(covering, width: 120, height: 60) == PixelSize(width: 60, height: 30))
    }

    @Test func pixelsOfThePointCount() async throws {
        let processor = ThumbnailImageProcessor(size: CGSize(width: 30, height: 30))
        #expect(
            try await size(processor, width: 120, height: 120, scale: 2)
                == PixelSize(width: 60, height: 60))
    }

    @Test func aSmallImageIsNotEnlarged() async throws {
        let processor = ThumbnailImageProcessor(
            size: CGSize(width: 300, height: 300), fills: true)
        #expect(
            try await size(processor, width: 40, height: 20) == PixelSize(width: 40, height: 20))
    }

    @Test func aPlaceWithoutExtentLeavesTheImage() async throws {
        let processor = ThumbnailImageProcessor(size: .zero)
        #expect(
            try await size(processor, width: 40, height: 20) == PixelSize(width: 40, height: 20))
    }

    @Test func identifiersTellSizesAndModesApart() {
        let size = CGSize(width: 30, height: 30)
        let identifiers = [
            ThumbnailImageProcessor(size: size), ThumbnailImageProcessor(size: size, fills: true),
            ThumbnailImageProcessor(size: CGSize(width: 31, height: 30)),
        ].map(\.identifier)
        #expect(Set(identifiers).count == 3)
    }
}
