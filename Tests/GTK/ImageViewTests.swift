import CGtk4
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

@MainActor @Suite(.timeLimit(.minutes(10)), .enabled(if: TestDisplay.isAvailable))
struct ImageViewSizeTests {
    /// The size of the image a view loads from a picture of 400 × 200 pixels.
    private func loadedSize(
        in view: ImageView, _ more: KingfisherOptionsInfo = []
    ) async throws -> PixelSize {
        let fixture = try await LoadFixture()
        let url = fixture.route("/wide.png", .red, width: 400, height: 200)
        return try await fixture.show(url, in: view, more).get().image.pixelSize
    }

    @Test func imagesAreAsLargeAsTheyAreUnlessToldOtherwise() async throws {
        let view = ImageView()
        let window = await TestWindow(view, width: 100, height: 100)
        #expect(try await loadedSize(in: view) == PixelSize(width: 400, height: 200))
        withExtendedLifetime(window) {}
    }

    @Test func anImageIsLoadedNoLargerThanTheViewNeeds() async throws {
        let view = ImageView()
        view.downsamplesToSize = true
        let window = await TestWindow(view, width: 100, height: 100)
        #expect(view.contentMode == .fit)
        for (mode, width) in [
            (PicturePlacement.Mode.fit, 100), (.fill, 200), (.stretch, 200), (.center, 400),
        ] {
            view.contentMode = mode
            #expect(try await loadedSize(in: view) == PixelSize(width: width, height: width / 2))
        }
        withExtendedLifetime(window) {}
    }

    @Test func aProcessorOfTheLoadComesFirst() async throws {
        let view = ImageView()
        view.downsamplesToSize = true
        view.requestedSize = CGSize(width: 100, height: 100)
        let processor = DownsamplingImageProcessor(size: CGSize(width: 40, height: 40))
        #expect(
            try await loadedSize(in: view, [.processor(processor)])
                == PixelSize(width: 40, height: 20))
    }

    @Test(arguments: [
        // A view that is not laid out yet has the size it asked for; a small image is not enlarged.
        (CGSize(width: 60, height: 60), PixelSize(width: 60, height: 30)),
        (CGSize(width: 1000, height: 800), PixelSize(width: 400, height: 200)),
    ])
    func theSizeAskedForCounts(_ requested: CGSize, _ loaded: PixelSize) async throws {
        let view = ImageView()
        view.downsamplesToSize = true
        #expect(view.displayArea == nil)
        view.requestedSize = requested
        #expect(try await loadedSize(in: view) == loaded)
    }

    @Test func whoWaitsForTheSizeIsTold() async throws {
        let view = ImageView()
        let sizes = Recorder<CGSize>()
        view.whenSized { _ in Issue.record("a later call has taken this one's place") }
        view.whenSized { sizes.record($0.size) }
        #expect(sizes.count == 0)
        let window = await TestWindow(view, width: 70, height: 30)
        #expect(await sizes.waitFor(count: 1) == [CGSize(width: 70, height: 30)])
        view.whenSized { sizes.record($0.size) }
        #expect(sizes.count == 2)
        withExtendedLifetime(window) {}
    }

    @Test func aViewWantsToBeAsLargeAsItsImage() {
        let view = ImageView(image: image(.solid(.red, width: 40, height: 20)))
        func natural(_ orientation: GtkOrientation, _ other: gint) -> gint {
            var natural: gint = 0
            gtk_widget_measure(view.widget, orientation, other, nil, &natural, nil, nil)
            return natural
        }
        #expect(natural(GTK_ORIENTATION_HORIZONTAL, -1) == 40)
        #expect(natural(GTK_ORIENTATION_VERTICAL, -1) == 20)
        #expect(natural(GTK_ORIENTATION_VERTICAL, 20) == 10)
        view.image = image(.solid(.red, width: 40, height: 20), scale: 2)
        #expect(natural(GTK_ORIENTATION_HORIZONTAL, -1) == 20)
        view.sizesToImage = false
        #expect(natural(GTK_ORIENTATION_HORIZONTAL, -1) == 0)
        view.requestedSize = CGSize(width: 30, height: 10)
        #expect(natural(GTK_ORIENTATION_HORIZONTAL, -1) == 30)
        #expect(natural(GTK_ORIENTATION_VERTICAL, 100) == 10)
        view.requestedSize = nil
        view.sizesToImage = true
        view.image = nil
        #expect(natural(GTK_ORIENTATION_HORIZONTAL, -1) == 0)
    }

    @Test func overlaysHaveTheSizeAndPlaceTheyAreGiven() async {
        let view = ImageView()
        let window = await TestWindow(view, width: 100, height: 80)
        let fixed = ImageView(image: image(.solid(.red, width: 10, height: 10)))
        fixed.contentMode = .stretch
        view.addOverlay(
            fixed,
            placement: OverlayPlacement(
                size: .size(CGSize(width: 30, height: 20)), offset: CGPoint(x: 10, y: -5)))
        let intrinsic = ImageView(image: image(.solid(.green, width: 6, height: 8)))
        view.addOverlay(intrinsic, placement: OverlayPlacement(size: .intrinsicSize))
        let shot = await window.screenshot()
        #expect(fixed.size == CGSize(width: 30, height: 20))
        #expect(intrinsic.size == CGSize(width: 6, height: 8))
        // Its middle is at (60, 35): from 45 to 75 and from 25 to 45.
        #expect(shot.pixel(46, 26) == .red && shot.pixel(74, 44) == .red)
        #expect(shot.pixel(44, 26).alpha == 0 && shot.pixel(76, 44).alpha == 0)
        #expect(shot.pixel(50, 40) == .green)
        await window.resize(width: 60, height: 60)
        #expect(fixed.size == CGSize(width: 30, height: 20))
        #expect(await window.screenshot().pixel(30, 30) == .green)
    }

    private func hasDescription(_ view: View) -> Bool {
        gtk_test_accessible_has_property(
            OpaquePointer(view.widget), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION) != 0
    }

    @Test func theDescriptionIsForThoseWhoDoNotSeeTheImage() {
        let view = ImageView()
        #expect(
            gtk_accessible_get_accessible_role(OpaquePointer(view.widget))
                == GTK_ACCESSIBLE_ROLE_IMG)
        view.accessibleDescription = "A cat on a wall"
        #expect(cgtk_check_accessible_description(view.widget, "A cat on a wall") == nil)
        view.accessibleDescription = "A dog"
        #expect(cgtk_check_accessible_description(view.widget, "A dog") == nil)
        #expect(hasDescription(view))
        view.accessibleDescription = nil
        #expect(!hasDescription(view))
    }
}

@MainActor @Suite(.timeLimit(.minutes(10)), .enabled(if: TestDisplay.isAvailable))
struct ImageViewLoadingTests {
    @Test func aLabelIsSeenOnTheViewUntilTheImageComes() async throws {
        let gate = Gate()
        let fixture = try await LoadFixture()
        let url = fixture.route("/a.png", .blue, gate: gate)
        let view = stretched()
        let window = await TestWindow(view, width: 100, height: 40)
        let label = Label("\u{2588}\u{2588}\u{2588}\u{2588}")
        let results = Results()
        view.kf.setImage(
            with: url, placeholder: label, options: fixture.using(),
            completionHandler: results.add())
        await fixture.origin.waitForRequests(1)
        let shot = await window.screenshot()
        #expect(label.size == CGSize(width: 100, height: 40))
        // The text is in the middle and there is nothing at the edge.
        #expect(shot.pixel(50, 20).alpha > 0 && shot.pixel(1, 1).alpha == 0)
        gate.open()
        await results.waitFor(count: 1)
        #expect(!label.isMapped)
        #expect(await window.screenshot().pixel(1, 1) == .blue)
    }
}
