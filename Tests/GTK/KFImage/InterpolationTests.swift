import Foundation
import HalcyonGTKTestKit
import HalcyonTestKit
import Testing

@testable import Halcyon
@testable import HalcyonGTK

@MainActor @Suite(.timeLimit(.minutes(10)), .enabled(if: TestDisplay.isAvailable))
struct InterpolationTests {
    /// A fine checkerboard, from which linear sampling of every tenth pixel makes stripes or nothing.
    private let fine = image(.checkerboard(width: 100, height: 100))

    private func style(_ interpolation: KFImage.Interpolation) -> KFImage.Rendering {
        var style = KFImage.Rendering()
        style.resizing = KFImage.Resizing()
        style.interpolation = interpolation
        return style
    }

    @Test func pixelsStaySquares() async {
        let view = StyledImageView()
        view.style = style(.none)
        view.image = image(.quadrants(width: 2, height: 2))
        let window = await TestWindow(view, width: 40, height: 40)
        let expected = bitmap(.quadrants(width: 40, height: 40))
        let shot = await window.screenshot { $0.isEqual(to: expected) }
        #expect(shot.isEqual(to: expected))
    }

    @Test func aSmallPlaceShowsTheMeanOfAllPixels() async {
        let view = StyledImageView()
        view.style = style(.high)
        view.image = fine
        let window = await TestWindow(view, width: 10, height: 10)
        func isGray(_ shot: Bitmap) -> Bool {
            (1..<9).allSatisfy { x in
                (1..<9).allSatisfy { y in
                    (100...210).contains(shot.pixel(x, y).red) && shot.pixel(x, y).alpha == 255
                }
            }
        }
        #expect(isGray(await window.screenshot(when: isGray)))
    }

    @Test func nearestPixelsAreThoseUnderTheMiddle() throws {
        let three = bitmap(PixelGrid(width: 3, height: 1) { x, _ in [.red, .green, .blue][x] })
        let two = try #require(three.nearest(PixelSize(width: 2, height: 2)))
        // The middles are at ¼ and ¾ of the width.
        #expect((0..<2).allSatisfy { two.pixel(0, $0) == .red && two.pixel(1, $0) == .blue })
        let six = try #require(three.nearest(PixelSize(width: 6, height: 1)))
        #expect((0..<6).map { six.pixel($0, 0) } == [.red, .red, .green, .green, .blue, .blue])
    }
}
