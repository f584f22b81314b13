import Foundation
import HalcyonGTKTestKit
import HalcyonTestKit
import Testing

@testable import Halcyon
@testable import HalcyonGTK

@MainActor @Suite(.timeLimit(.minutes(10)), .enabled(if: TestDisplay.isAvailable))
struct ImageViewDrawingTests {
    /// Red and green above blue and white, twice as wide as high.
    private let wide = image(.quadrants(width: 40, height: 20))

    private func screenshot(
        _ mode: PicturePlacement.Mode, _ alignment: PicturePlacement.Alignment = .center,
        of image: Image? = nil
    ) async -> Bitmap {
        let view = ImageView(image: image ?? wide)
        view.contentMode = mode
        view.alignment = alignment
        return await TestWindow(view, width: 100, height: 100).screenshot()
    }

    @Test func aFittedImageHasRoomAboveAndBelow() async {
        let shot = await screenshot(.fit)
        #expect(shot.size == PixelSize(width: 100, height: 100))
        #expect(shot.pixel(50, 24).alpha == 0 && shot.pixel(50, 75).alpha == 0)
        #expect(shot.pixel(1, 26) == .red && shot.pixel(98, 26) == .green)
        #expect(shot.pixel(1, 73) == .blue && shot.pixel(98, 73) == .white)
    }

    @Test func aFillingImageIsCutAtTheSides() async {
        let shot = await screenshot(.fill)
        #expect(shot.pixel(0, 0) == .red && shot.pixel(99, 0) == .green)
        #expect(shot.pixel(0, 99) == .blue && shot.pixel(99, 99) == .white)
        let left = await screenshot(.fill, .left)
        // The image is 200 wide now, and its right half is not to be seen.
        #expect(left.pixel(0, 0) == .red && left.pixel(97, 2) == .red)
        #expect(left.pixel(97, 97) == .blue)
    }

    @Test func aCentredImageKeepsItsPixels() async {
        let shot = await screenshot(.center)
        let expected = bitmap(.quadrants(width: 40, height: 20))
        for y in 0..<20 {
            for x in 0..<40 { #expect(shot.pixel(x + 30, y + 40) == expected.pixel(x, y)) }
        }
        #expect(shot.pixel(29, 50).alpha == 0 && shot.pixel(70, 50).alpha == 0)
        #expect(shot.pixel(50, 39).alpha == 0 && shot.pixel(50, 60).alpha == 0)
    }

    @Test func anImageOfTwoPixelsPerPointIsHalfAsLarge() async {
        let shot = await screenshot(.center, of: wide.withScale(2))
        #expect(shot.pixel(40, 45) == .red && shot.pixel(59, 54) == .white)
        #expect(shot.pixel(38, 50).alpha == 0 && shot.pixel(61, 50).alpha == 0)
    }

    @Test func transparentPixelsLetTheBackgroundShine() async {
        let half = Pixel(255, 0, 0, 128)
        let shot = await screenshot(.stretch, of: image(.solid(half, width: 10, height: 10)))
        #expect(shot.pixel(50, 50) == half)
    }

    @Test func roundedCornersAreCutOff() async {
        let view = square(.red)
        view.cornerRadius = .heightFraction(0.3)
        let window = await TestWindow(view, width: 100, height: 100)
        let shot = await window.screenshot()
        for (x, y) in [(0, 0), (99, 0), (0, 99), (99, 99)] {
            #expect(shot.pixel(x, y).alpha == 0)
        }
        // The arc meets the diagonal at 30 − 30 / √2 = 8.8.
        #expect(shot.pixel(7, 7).alpha == 0 && shot.pixel(10, 10) == .red)
        #expect(shot.pixel(50, 0) == .red && shot.pixel(0, 50) == .red)
        view.cornerRadius = nil
        #expect(await window.screenshot().pixel(0, 0) == .red)
    }

    @Test func onlyTheCornersAskedForAreCutOff() async throws {
        let view = square(.red)
        view.cornerRadius = .point(30)
        view.roundedCorners = [.topLeft, .bottomRight]
        let window = await TestWindow(view, width: 100, height: 100)
        let cairo = try #require(window.makeRenderer(.cairo))
        let shot = await window.screenshot(by: cairo)
        #expect(shot.pixel(0, 0).alpha == 0 && shot.pixel(99, 99).alpha == 0)
        #expect(shot.pixel(99, 0) == .red && shot.pixel(0, 99) == .red)
    }

    @Test func theGraphicsProcessorDrawsTheSame() async {
        let view = ImageView(image: wide)
        view.contentMode = .fill
        let label = Label("on top")
        view.addOverlay(label, placement: OverlayPlacement(size: .intrinsicSize))
        let window = await TestWindow(view, width: 100, height: 100)
        // There may be no OpenGL here.
        guard let renderer = window.makeRenderer(.gl) else { return }
        label.isHidden = true
        let shot = await window.screenshot(by: renderer)
        #expect(shot.pixel(0, 0) == .red && shot.pixel(99, 0) == .green)
        #expect(shot.pixel(0, 99) == .blue && shot.pixel(99, 99) == .white)
    }

    @Test func anImageThatIsNotDecodedYetIsShownWhenItIs() async {
        let pending = pendingImage(.solid(.green, width: 10, height: 10))
        #expect(!pending.isRendered)
        let view = stretched(pending)
        #expect(view.picture == nil)
        let window = await TestWindow(view, width: 20, height: 20)
        await window.frames { view.picture != nil }
        #expect(await window.screenshot().pixel(10, 10) == .green)
    }

    @Test func anImageThatCameTooLateIsNotShown() async {
        let view = stretched(pendingImage(.solid(.green, width: 10, height: 10)))
        view.image = image(.solid(.blue, width: 10, height: 10))
        let window = await TestWindow(view, width: 20, height: 20)
        #expect(await window.screenshot().pixel(10, 10) == .blue)
        view.image = nil
        #expect(await window.screenshot().pixel(10, 10).alpha == 0)
    }
}
