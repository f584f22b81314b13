import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

@Suite struct MovedProgramTests {
    @MainActor @Test func aProgramWhoseDelegatesHaveStateWorks() async throws {
        let png = PNGFixture.solid(.red, width: 4, height: 4)
        let origin = try await OriginServer.start(files: ["/a.png": png])
        let folder = try TemporaryDirectory()
        let screen = PhotoScreen()
        let cache = try ImageCache(name: "moved", cacheDirectoryURL: folder.url)
        try await screen.show(origin.url("/a.png"), cache: cache)
        #expect(screen.shown?.pixelSize == PixelSize(width: 4, height: 4))
        #expect(screen.summary == "1 started, \(png.count) bytes, 0 failed, 1 selected")
    }
}
