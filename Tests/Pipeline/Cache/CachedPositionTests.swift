import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

/// Where a picture was taken is not kept beside what was made of it.
@Suite struct CachedPositionTests {
    private let fixture: ManagerFixture
    private let photo: Data
    private let processor = ResizingImageProcessor(referenceSize: CGSize(width: 20, height: 10))

    init() async throws {
        fixture = try await ManagerFixture()
        let jpeg = try encoded(.gradient(40, 20), as: .JPEG, quality: 0.9)
        photo = EXIFFixture.inserted(EXIFFixture.block(orientation: 6), into: jpeg)
        fixture.origin.route("/photo.jpg", .ok(photo))
    }

    private var url: URL { fixture.origin.url("/photo.jpg") }

    private func cachedOriginal() throws -> Data {
        let file = try #require(fixture.cache.cacheFileURLIfOnDisk(forKey: url.cacheKey))
        return try Data(contentsOf: file)
    }

    private func load(_ options: KingfisherOptionsInfo) async throws -> RetrieveImageResult {
        try await fixture.manager.retrieveImage(with: url, options: options + [.waitForCache])
    }

    /// Tag and pointer of the directory with the position.
    private let pointer = Data([0x25, 0x88, 4, 0, 1, 0, 0, 0])

    @Test func theOriginalOfAProcessedImageIsCachedWithoutIt() async throws {
        #expect(photo.range(of: pointer) != nil)
        let result = try await load([.processor(processor), .cacheOriginalImage])
        let original = try cachedOriginal()
        #expect(original.range(of: pointer) == nil)
        #expect(original.range(of: Data("secret".utf8)) != nil)
        #expect(original.count == photo.count)
        // Turned as before, and the same pixels.
        #expect(try decoded(original).size == PixelSize(width: 20, height: 40))
        #expect(try decoded(original).data == decoded(photo).data)
        // Who asked has the bytes that came.
        #expect(result.data() == photo)
    }

    @Test(arguments: [true, false])
    func itIsKeptWhenThatIsAskedForAndInAnUnprocessedImage(isProcessed: Bool) async throws {
        let more: KingfisherOptionsInfo =
            isProcessed ? [.processor(processor), .keepPositionInOriginal] : []
        _ = try await load([.cacheOriginalImage] + more)
        #expect(try cachedOriginal() == photo)
    }
}
