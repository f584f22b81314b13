import CGtk4
import Foundation
import HalcyonGTKTestKit
import HalcyonTestKit
import Testing

@testable import Halcyon
@testable import HalcyonGTK

/// Runs the code of `docs/guides/gtk.md` in windows, with an origin of this process.
@MainActor @Suite(.timeLimit(.minutes(10)), .enabled(if: TestDisplay.isAvailable))
struct GTKGuideSnippetTests {
    private let fixture: ListFixture

    init() async throws {
        fixture = try await ListFixture(count: 30, width: 80, height: 80)
    }

    private var options: KingfisherOptionsInfo {
        [.targetCache(fixture.cache), .downloader(fixture.downloader)]
    }

    private func url(_ index: Int) -> URL { fixture.origin.url("/\(index).png") }

    @Test func aViewShowsItsPlaceholderAndThenItsImage() async {
        let placeholder = image(.solid(.green, width: 4, height: 4))
        let view = GTKGuideSnippets.view(url(3), placeholder, options)
        #expect(view.image === placeholder)
        let window = await TestWindow(view, width: 60, height: 60)
        await window.frames { view.image !== placeholder && !view.isInTransition }
        #expect(await window.screenshot().pixel(30, 30) == ListFixture.color(3))
    }

    @Test func aHashIsSeenUntilTheImageComes() async throws {
        let view = ImageView()
        // Nothing is there, so that the placeholder stays.
        GTKGuideSnippets.placeholder(view, fixture.origin.url("/missing.png"))
        let placeholder = try #require(view.image)
        #expect(placeholder.size == CGSize(width: 320, height: 240))
        #expect(view.measure(.horizontal, other: nil).natural == 320)
        let window = await TestWindow(view, width: 100, height: 75)
        let shot = await window.screenshot()
        // Dark green above left, red below right: the picture that the hash was made of.
        #expect(shot.pixel(95, 5).red > shot.pixel(5, 5).red)
        #expect(shot.pixel(5, 70).green > shot.pixel(5, 5).green)
    }

    @Test func aViewIsPutIntoAWindowOfGTK() {
        let widget: UnsafeMutablePointer<GtkWidget> = gtk_window_new()
        let window = UnsafeMutableRawPointer(widget).assumingMemoryBound(to: GtkWindow.self)
        GTKGuideSnippets.window(window)
        #expect(gtk_window_get_child(window).flatMap(View.of) is ImageView)
        gtk_window_destroy(window)
    }

    @Test func anImageIsMadeForTheSizeOfItsView() async {
        let view = ImageView()
        GTKGuideSnippets.size(view, url(1), options)
        let window = await TestWindow(view, width: 40, height: 40)
        await window.frames { view.image != nil }
        let side = 40 * Int(view.scaleFactor)
        #expect(view.image?.pixelSize == PixelSize(width: side, height: side))
    }

    @Test func aFailureIsSeen() async {
        let view = ImageView()
        GTKGuideSnippets.failure(view)
        let window = await TestWindow(view, width: 120, height: 60)
        view.kf.setImage(with: fixture.origin.url("/missing.png"), options: options)
        await window.frames { view.kf.taskIdentifier == nil }
        #expect(await window.screenshot().visiblePixelCount > 0)
        #expect(view.retriesOnClick)
    }

    @Test func anAnimationIsRepeated() async throws {
        let view = GTKGuideSnippets.animation(url(0), options)
        #expect(view.repeatCount == .finite(count: 3))
        let window = await TestWindow(view, width: 40, height: 40)
        await window.frames { view.image != nil }
    }

    @Test func aGridShowsAllThatIsSeen() async throws {
        let list = GTKGuideSnippets.list((0..<30).map(url), options)
        let window = await TestWindow(list, width: 500, height: 320)
        let grid = try #require(list as? ImageCollectionView<URL>)
        await window.frames { grid.isComplete }
        for cell in grid.seenCells { #expect(try cell.shownIndex == cell.position) }
        #expect(grid.seenCells.first?.cell.accessibleDescription == "0.png")
    }

    @Test func aFactoryMakesTheCellsOfAListView() async throws {
        let strings = (0..<3).map { strdup("\($0)") }
        defer { for string in strings { free(string) } }
        var names = strings.map { $0.map { UnsafePointer<CChar>($0) } } + [nil]
        let model = try #require(gtk_string_list_new(&names))
        let selection = try #require(gtk_no_selection_new(model))
        var configuration = ImageCellConfiguration()
        configuration.options = options
        let widget = try #require(
            GTKGuideSnippets.factory((0..<3).map(url), selection, configuration))
        let scrolled = View(widget: gtk_scrolled_window_new())
        gtk_scrolled_window_set_child(OpaquePointer(scrolled.widget), widget)
        let window = await TestWindow(scrolled, width: 120, height: 300)
        await window.nextFrame()
        #expect(gtk_widget_get_first_child(widget) != nil)
    }

    @Test func turnsAreMeasured() async {
        _ = GTKGuideSnippets.meter()
        // The first whole turn from here on is measured.
        await nextTurn()
        await nextTurn()
        #expect(GTKGuideSnippets.meter() > .zero)
    }

    @Test func aLabelIsPutIntoABox() throws {
        let box: UnsafeMutablePointer<GtkWidget> = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0)
        let view = View(widget: box)
        GTKGuideSnippets.lend(UnsafeMutableRawPointer(box).assumingMemoryBound(to: GtkBox.self))
        #expect(gtk_widget_get_first_child(view.widget).flatMap(View.of) is Label)
    }

    @Test func anIndicatorOfOnesChoiceIsSet() {
        let view = ImageView()
        GTKGuideSnippets.ring(view)
        #expect(view.kf.indicator is ProgressRingIndicator)
    }
}
