import Foundation
import HalcyonGTKTestKit
import HalcyonTestKit
import Testing

@testable import Halcyon
@testable import HalcyonGTK

@MainActor @Suite(.timeLimit(.minutes(10)), .enabled(if: TestDisplay.isAvailable))
struct HashPlaceholderTests {
    private let gate = Gate()
    /// A BlurHash of one colour.
    private let hash = "001C={"
    private let dark = Pixel(10, 20, 30)

    @Test func animatedImagesTakeThem() async throws {
        let fixture = try await LoadFixture()
        let url = fixture.route("/a.png", .blue, gate: gate)
        func describe(_ url: URL) -> KFAnimatedImage {
            KFAnimatedImage(url).targetCache(fixture.cache).downloader(fixture.downloader)
        }
        let size = CGSize(width: 60, height: 45)
        let view = describe(url).placeholder(blurHash: hash, size: size).makeView()
        let thumb = describe(url)
            .placeholder(thumbHash: "2PoNNJpwd3d+eId3iIhzjwcHiA==").makeView()
        let window = await TestWindow(view, width: 100, height: 100)
        let other = await TestWindow(thumb, width: 100, height: 100)
        #expect(view.measure(.vertical, other: nil).natural == 45)
        #expect(await window.screenshot().pixel(50, 50).isNear(dark))
        #expect(thumb.measure(.vertical, other: nil).natural == 18)
        #expect(await other.screenshot().pixel(50, 50).alpha == 255)
        gate.open()
        await window.frames { view.isLoaded }
        await other.frames { thumb.isLoaded }
        #expect(await window.screenshot().pixel(50, 50) == .blue)
        #expect(await other.screenshot().pixel(50, 50) == .blue)
    }

    @Test func cellsOfListsShowThemUntilThePictureComes() async throws {
        let fixture = try await ListFixture(count: 3, isHeld: true)
        var configuration = ImageCellConfiguration()
        configuration.placeholder = { _ in .blurHash("001C={") }
        let list = fixture.makeList(configuration: configuration)
        let window = await TestWindow(list, width: 90, height: 300)
        await window.frames {
            list.seenCells.count == 3 && list.seenCells.allSatisfy { $0.state == .loading }
        }
        for cell in list.seenCells {
            let image = try #require(cell.cell.imageView.image)
            #expect(try image.bitmap().pixel(0, 0).isNear(dark))
        }
        fixture.releaseAll()
        await window.frames { list.isComplete }
        for cell in list.seenCells { #expect(try cell.shownIndex == cell.position) }
    }
}
