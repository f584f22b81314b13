import CGtk4
import Foundation
import HalcyonGTKTestKit
import HalcyonTestKit
import Testing

@testable import Halcyon
@testable import HalcyonGTK

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
