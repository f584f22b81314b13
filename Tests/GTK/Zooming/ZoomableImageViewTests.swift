import CGtk4
import Foundation
import HalcyonGTKTestKit
import HalcyonTestKit
import Testing

@testable import Halcyon
@testable import HalcyonGTK

@MainActor @Suite(.timeLimit(.minutes(10)), .enabled(if: TestDisplay.isAvailable))
struct ZoomableImageViewTests {
    private typealias Failures = Recorder<any Error>

    /// A view of 100 × 60 points in a window.
    private func shown(
        _ image: Image? = nil, wholeBytes: Int? = nil
    ) async -> (ZoomableImageView, TestWindow) {
        let view = ZoomableImageView()
        if let wholeBytes { view.wholeBytes = wholeBytes }
        view.image = image
        return (view, await TestWindow(view, width: 100, height: 60))
    }

    /// Longer than what is shown without tiles: red, green over blue, white.
    private static let long = PixelGrid.quadrants(width: 4096, height: 40)

    // MARK: Drawing

    @Test func aPictureIsShownWholeAndNotEnlarged() async {
        let (view, window) = await shown(image(.quadrants(width: 40, height: 20)))
        let shot = await window.screenshot()
        #expect(view.zoom == 1 && view.isFitted && view.isSharp)
        #expect(shot.pixel(31, 21) == .red && shot.pixel(68, 38) == .white)
        #expect(shot.pixel(28, 30).alpha == 0 && shot.pixel(50, 18).alpha == 0)
        view.image = image(.quadrants(width: 400, height: 120))
        #expect(view.zoom == 0.25)
        #expect(await window.screenshot().pixel(2, 17) == .red)
    }

    @Test func itIsEnlargedAndMoved() async {
        let (view, window) = await shown(image(.quadrants(width: 40, height: 20)))
        view.zoom = 10
        #expect(view.visibleArea == CGRect(x: 15, y: 7, width: 10, height: 6))
        var shot = await window.screenshot()
        #expect(shot.pixel(10, 10) == .red && shot.pixel(90, 50) == .white)
        #expect(view.pan(x: -1000, y: -1000) && !view.pan(x: -1, y: 0))
        shot = await window.screenshot()
        #expect(shot.pixel(99, 59) == .red)
        view.zoomToFit()
        #expect(view.zoom == 1 && view.isFitted)
    }

    @Test func theViewKeepsAFittedPictureWhole() async {
        let (view, window) = await shown(image(.quadrants(width: 200, height: 20)))
        #expect(view.zoom == 0.5)
        await window.resize(width: 50, height: 60)
        #expect(view.zoom == 0.25)
    }

    @Test func anImageThatIsNotDecodedIsShownWhenItIs() async {
        let (view, window) = await shown(pendingImage(.quadrants(width: 40, height: 20)))
        await window.frames { view.isSharp }
        #expect(await window.screenshot().pixel(31, 21) == .red)
    }

    @Test func anAnimationPlays() async throws {
        let ticker = ManualFrameTicker()
        let view = ZoomableImageView()
        view.frameTicker = ticker
        let data = gif([.red, .green, .blue], width: 40, height: 40)
        let moving = try #require(Image(data: data))
        view.image = moving
        let window = await TestWindow(view, width: 40, height: 40)
        #expect(view.isAnimating && view.isFitted)
        while !Task.isCancelled, view.animator?.currentFrameIndex != 1 {
            ticker.advance(by: .milliseconds(100))
            await view.animator?.waitForNextFrame()
            await nextTurn()
        }
        #expect(await window.screenshot().pixel(20, 20) == .green)
        // Step by step, in both directions.
        for (index, color) in [(2, Pixel.blue), (0, .red), (2, .blue), (1, .green)] {
            view.showFrame(index)
            await window.frames { view.shows(frame: index) }
            #expect(!view.isAnimating && view.animator?.currentFrameIndex == index)
            #expect(await window.screenshot().pixel(20, 20) == color)
        }
        view.showFrame(3)
        #expect(view.animator?.currentFrameIndex == 1)
        view.startAnimating()
        #expect(view.isAnimating)
    }

    // MARK: Input

    @Test func keysZoomAndMove() async {
        let (view, window) = await shown(image(.quadrants(width: 400, height: 240)))
        let input = Input(view)
        #expect(view.zoom == 0.25)
        #expect(!input.press("Left") && !input.press("Down"))
        #expect(input.press("1") && view.zoom == 1)
        #expect(input.press("plus") && view.zoom == 1.25)
        #expect(input.press("minus") && view.zoom == 1)
        let before = view.visibleArea
        #expect(input.press("Right") && view.visibleArea.minX == before.minX + 80)
        #expect(input.press("Up") && view.visibleArea.minY == before.minY - 80)
        #expect(input.press("0") && view.isFitted)
        #expect(!input.press("q"))
        withExtendedLifetime(window) {}
    }

    @Test func theWheelZoomsWhereThePointerIs() async {
        let (view, window) = await shown(image(.quadrants(width: 400, height: 240)))
        let input = Input(view)
        input.move(x: 0, y: 0)
        input.scroll(-1)
        #expect(view.zoom == 0.3125 && view.visibleArea.origin == .zero)
        input.scroll(1)
        #expect(view.isFitted)
        withExtendedLifetime(window) {}
    }

    @Test func draggingMovesThePicture() async {
        let (view, window) = await shown(image(.quadrants(width: 400, height: 240)))
        view.zoom(to: 2, around: .zero)
        Input(view).drag(x: -40, y: -20)
        #expect(view.visibleArea.origin == CGPoint(x: 20, y: 10))
        withExtendedLifetime(window) {}
    }

    @Test func aDoubleClickShowsTheOwnSizeAndAllOfIt() async {
        let (view, window) = await shown(image(.quadrants(width: 400, height: 240)))
        Input(view).doubleClick()
        #expect(view.zoom == 1)
        Input(view).doubleClick()
        #expect(view.isFitted)
        withExtendedLifetime(window) {}
    }

    // MARK: Tiles

    @Test(arguments: [nil, 0] as [Int?]) func partsBecomeSharp(wholeBytes: Int?) async {
        // From pixels in memory, and read off the file.
        let (view, window) = await shown(pendingImage(Self.long), wholeBytes: wholeBytes)
        await window.frames { view.isSharp }
        #expect(view.zoom == 100.0 / 4096 && view.tileBytes == 0)
        view.zoom = 1
        #expect(!view.isSharp)
        await window.frames { view.isSharp }
        let shot = await window.screenshot()
        #expect(view.tileBytes > 0)
        for (x, y) in [(49, 29), (50, 29), (49, 30), (50, 30)] {
            #expect(shot.pixel(x, y) == Self.long[x + 1998, y - 10])
        }
        #expect(shot.pixel(49, 8).alpha == 0)
    }

    @Test func aFileIsShownAtOnceAndInParts() async throws {
        let (view, window) = await shown(wholeBytes: 0)
        let changes = Locked(0)
        view.onChange = { changes.withLock { $0 += 1 } }
        try await view.show(PNGFixture.data(Self.long, as: .rgb8))
        #expect(view.image?.pixelSize == PixelSize(width: 4096, height: 40))
        #expect(view.image?.isRendered == false && view.picture != nil && changes.value > 0)
        view.zoom(to: 2, around: .zero)
        await window.frames { view.isSharp }
        #expect(await window.screenshot().pixel(1, 45) == .blue)
        // Only what is seen of it was decoded.
        #expect(view.image?.isRendered == false && view.tileBytes == 512 * 512 * 3)
    }

    @Test func partsOutOfSightAreGivenUp() async {
        let (view, window) = await shown(pendingImage(Self.long))
        await window.frames { view.isSharp }
        view.zoom(to: 1, around: .zero)
        await window.frames { view.isSharp }
        let bytes = view.tileBytes
        for _ in 0..<10 {
            view.pan(x: 400, y: 0)
            await window.frames { view.isSharp }
            // Those that are seen, and one beside them.
            #expect(view.tileBytes <= 4 * bytes)
        }
        view.zoomToFit()
        #expect(view.tileBytes == 0)
        view.zoom = 1
        await window.frames { view.isSharp }
        view.isHidden = true
        #expect(view.tileBytes == 0)
        view.isHidden = false
        await window.frames { view.isSharp }
        #expect(view.tileBytes > 0)
    }

    @Test func theMemoryOfPartsHasALimit() async {
        let (view, window) = await shown(pendingImage(.quadrants(width: 4400, height: 64)))
        await window.resize(width: 1100, height: 64)
        view.tileMemoryLimit = 2 * 512 * 512 * 4
        await window.frames { view.isSharp }
        view.zoom = 0.99
        await window.frames { view.isSharp }
        #expect(view.tileBytes > 0 && view.tileBytes <= view.tileMemoryLimit)
    }

    @Test func transparentPartsAreDrawnOnce() async {
        let half = Pixel(255, 0, 0, 128)
        let (view, window) = await shown(pendingImage(.solid(half, width: 4096, height: 40)))
        await window.frames { view.isSharp }
        view.zoom = 1
        await window.frames { view.isSharp && view.tileBytes > 0 }
        let shot = await window.screenshot()
        #expect(shot.pixel(50, 30).isNear(half))
    }

    // MARK: Failures and later images

    @Test func aFileThatCannotBeReadLeavesTheFormerImage() async throws {
        let former = image(.solid(.green, width: 20, height: 20))
        let (view, window) = await shown(former)
        let whole = PNGFixture.data(.quadrants(width: 64, height: 64))
        await #expect(throws: ImageCodingError.self) { try await view.show(Data("no".utf8)) }
        await #expect(throws: ImageCodingError.self) {
            try await view.show(Data(whole.prefix(3000)))
        }
        #expect(view.image === former)
        #expect(await window.screenshot().pixel(50, 30) == .green)
    }

    @Test func anImageThatIsDamagedIsToldOf() async throws {
        let (view, window) = await shown()
        let failures = Failures()
        view.onFailure = { failures.record($0) }
        var damaged = PNGFixture.data(.quadrants(width: 64, height: 64))
        damaged[damaged.count / 2] ^= 0xFF
        let image = try #require(Image(data: damaged))
        view.image = image
        #expect(await failures.waitFor(count: 1).first is ImageCodingError)
        withExtendedLifetime(window) {}
    }

    @Test func aLaterImageCounts() async throws {
        let (view, window) = await shown()
        let files = [20, 30].map { PNGFixture.solid(.blue, width: $0, height: $0) }
        // It has begun before the other does.
        let former = Task.immediate { try await view.show(files[0]) }
        try await view.show(files[1])
        await #expect(throws: CancellationError.self) { try await former.value }
        #expect(view.image?.pixelSize.width == 30)
        view.image = pendingImage(.solid(.red, width: 20, height: 20))
        view.image = nil
        #expect(view.picture == nil && view.isSharp == false)
        #expect(await window.screenshot().visiblePixelCount == 0)
    }

    @Test func imagesAreLoadedAsInOtherViews() async throws {
        let fixture = try await LoadFixture()
        let (view, window) = await shown()
        let url = fixture.route("/a.png", .green, width: 200, height: 120)
        let result = await fixture.show(url, in: view)
        #expect(try result.get().image === view.image)
        await window.frames { view.isSharp }
        #expect(view.zoom == 0.5)
        #expect(await window.screenshot().pixel(50, 30) == .green)
    }

    @Test func theViewHasAName() {
        let view = ZoomableImageView()
        view.accessibleName = "china.jpg"
        #expect(cgtk_check_accessible_name(view.widget, "china.jpg") == nil)
        #expect(gtk_widget_get_focusable(view.widget) != 0)
    }
}

extension AnimatedImageView {
    fileprivate func shows(frame index: Int) -> Bool {
        guard let bitmap = try? animator?.frame(at: index)?.bitmap() else { return false }
        return picture?.texture == Texture(bitmap)
    }
}
