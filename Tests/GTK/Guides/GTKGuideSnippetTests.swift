import CGtk4
import Foundation
import Halcyon
import HalcyonGTK
import HalcyonGTKTestKit
import HalcyonTestKit
import Testing

/// The code of `docs/guides/gtk.md` and in the documentation of views, run in windows with an origin of this
/// process; see `GuideSnippetTests` of the tests of Halcyon.
@MainActor @Suite(.timeLimit(.minutes(10)), .enabled(if: TestDisplay.isAvailable))
struct GTKGuideSnippetTests {
    private let fixture: ListFixture
    private let options: KingfisherOptionsInfo

    init() async throws {
        fixture = try await ListFixture(count: 30, width: 80, height: 80)
        options = [.targetCache(fixture.cache), .downloader(fixture.downloader)]
    }

    private func url(_ index: Int) -> URL { fixture.origin.url("/\(index).png") }

    @Test func aViewShowsItsPlaceholderAndThenItsImage() async {
        let placeholder = image(.solid(.green, width: 4, height: 4))
        let url = url(3)
        // guide: gtk/view
        let view = ImageView()
        view.contentMode = .fill
        view.cornerRadius = .point(8)
        view.accessibleDescription = "A kingfisher on a branch"
        view.kf.indicatorType = .activity
        view.kf.setImage(
            with: url, placeholder: placeholder, options: options + [.transition(.fade(0.3))])
        // end
        #expect(view.image === placeholder)
        let window = await TestWindow(view, width: 60, height: 60)
        await window.frames { view.image !== placeholder && !view.isInTransition }
        #expect(await window.screenshot().pixel(30, 30) == ListFixture.color(3))
    }

    @Test func aHashIsSeenUntilTheImageComes() async throws {
        let view = ImageView()
        // Nothing is there, so that the placeholder stays.
        let url = fixture.missing
        // guide: gtk/placeholder
        KF.url(url)
            .placeholder(
                blurHash: "LxH2cX2swxX8l}WDjte;gJfjfQfj", size: CGSize(width: 320, height: 240)
            )
            .fade(duration: 0.3)
            .set(to: view)
        // end
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
        // guide: gtk/widget
        let view = ImageView()
        gtk_window_set_child(window, view.widget)
        // end
        #expect(gtk_window_get_child(window).flatMap(View.of) is ImageView)
        gtk_window_destroy(window)
    }

    @Test func aWidgetOfAnotherWrapperFindsItsView() async {
        let made = PhotoView()
        made.options = options
        // All that a wrapper keeps of it.
        let widget = OpaquePointer(made.widget)
        let window = await TestWindow(made, width: 40, height: 40)
        for index in [1, 1, 2] {
            (View.of(UnsafeMutablePointer(widget)) as? PhotoView)?.url = url(index)
        }
        await window.frames { made.kf.taskIdentifier == nil && made.image != nil }
        #expect(await window.screenshot().pixel(20, 20) == ListFixture.color(2))
    }

    @Test func anImageIsMadeForTheSizeOfItsView() async {
        let view = ImageView()
        let (url, options) = (url(1), options)
        // guide: gtk/size
        view.downsamplesToSize = true
        view.whenSized { $0.kf.setImage(with: url, options: options) }
        // end
        let window = await TestWindow(view, width: 40, height: 40)
        await window.frames { view.image != nil }
        let side = 40 * Int(view.scaleFactor)
        #expect(view.image?.pixelSize == PixelSize(width: side, height: side))
    }

    @Test func aFailureIsSeen() async {
        let view = ImageView()
        // guide: gtk/failure
        view.kf.indicatorType = .custom(indicator: ProgressRingIndicator())
        view.kf.failureView = { error in Label("Error \(error.errorCode)") }
        view.retriesOnClick = true
        // end
        let window = await TestWindow(view, width: 120, height: 60)
        view.kf.setImage(with: fixture.missing, options: options)
        await window.frames { view.kf.taskIdentifier == nil }
        #expect(await window.screenshot().visiblePixelCount > 0)
        #expect(view.retriesOnClick)
    }

    @Test func anAnimationIsRepeated() async throws {
        let url = url(0)
        // guide: gtk/animation
        let view = AnimatedImageView()
        view.repeatCount = .finite(count: 3)
        view.kf.setImage(with: url, options: options)
        // end
        #expect(view.repeatCount == .finite(count: 3))
        let window = await TestWindow(view, width: 40, height: 40)
        await window.frames { view.image != nil }
    }

    @Test func aFileIsLookedAtClosely() async throws {
        let folder = try TemporaryDirectory()
        let file = try folder.write(
            PNGFixture.data(.quadrants(width: 80, height: 80)), to: "a.png")
        // guide: gtk/zoom, ZoomableImageView/example
        let view = ZoomableImageView()
        view.onFailure = { error in print(error) }
        try await view.show(Data(contentsOf: file))
        view.zoom(to: 1, around: CGPoint(x: 20, y: 20))
        // end
        let window = await TestWindow(view, width: 40, height: 40)
        await window.frames { view.isSharp }
        #expect(view.image?.pixelSize == PixelSize(width: 80, height: 80))
    }

    @Test func aGridShowsAllThatIsSeen() async throws {
        let urls = (0..<30).map(url)
        // guide: gtk/list
        var configuration = ImageCellConfiguration()
        configuration.options = options + [.transition(.fade(0.2))]
        configuration.prefetchCount = 30

        let list = ImageCollectionView(
            .grid(columns: 3...8), items: urls, configuration: configuration,
            makeCell: { () -> ImageView in
                let cell = ImageView()
                cell.requestedSize = CGSize(width: 140, height: 140)
                cell.contentMode = .fill
                return cell
            },
            source: { url in url.convertToSource() },
            configure: { cell, url in cell.accessibleDescription = url.lastPathComponent })
        // end
        let window = await TestWindow(list, width: 500, height: 320)
        await window.frames { list.isComplete }
        #expect(try list.showsImagesOfTheirPlaces)
        #expect(list.firstDescription == "0.png")
    }

    @Test func aFactoryMakesTheCellsOfAListView() async throws {
        let strings = (0..<3).map { strdup("\($0)") }
        defer { for string in strings { free(string) } }
        var names = strings.map { $0.map { UnsafePointer<CChar>($0) } } + [nil]
        let texts = try #require(gtk_string_list_new(&names))
        let model = try #require(gtk_no_selection_new(texts))
        var configuration = ImageCellConfiguration()
        configuration.options = options
        let urls = (0..<3).map(url)
        // guide: gtk/factory
        let factory = ImageCellFactory(
            configuration: configuration,
            makeCell: { ImageView() },
            source: { item in urls[item.position].convertToSource() })
        g_object_ref(UnsafeMutableRawPointer(factory.pointer))
        let list = gtk_list_view_new(model, factory.pointer)
        // end
        let widget: UnsafeMutablePointer<GtkWidget> = try #require(list)
        let scrolled = View(widget: gtk_scrolled_window_new())
        gtk_scrolled_window_set_child(OpaquePointer(scrolled.widget), widget)
        let window = await TestWindow(scrolled, width: 120, height: 300)
        await window.nextFrame()
        #expect(gtk_widget_get_first_child(widget) != nil)
    }

    @Test func turnsAreMeasured() async {
        for isLater in [false, true] {
            // guide: gtk/meter
            MainLoopMeter.start()
            // … and later, for example when the window is closed:
            print("longest turn of the main loop:", MainLoopMeter.longestTurn)
            // end
            if isLater { #expect(MainLoopMeter.longestTurn > .zero) }
            // The first whole turn from here on is measured.
            await nextTurn()
            await nextTurn()
        }
    }

    @Test func aLabelIsPutIntoABox() throws {
        let widget: UnsafeMutablePointer<GtkWidget> = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0)
        let view = View(widget: widget)
        let box = UnsafeMutableRawPointer(widget).assumingMemoryBound(to: GtkBox.self)
        // guide: View/example
        gtk_box_append(box, Label("Cat").widget)
        // end
        #expect(gtk_widget_get_first_child(view.widget).flatMap(View.of) is Label)
    }

    @Test func anIndicatorOfOnesChoiceIsSet() {
        let imageView = ImageView()
        // guide: ProgressRingIndicator/example
        imageView.kf.indicatorType = .custom(indicator: ProgressRingIndicator())
        // end
        #expect(imageView.kf.indicator is ProgressRingIndicator)
    }
}

// guide: gtk/wrapper
final class PhotoView: ImageView {
    var options: KingfisherOptionsInfo = []

    var url: URL? {
        didSet { if url != oldValue { kf.setImage(with: url, options: options) } }
    }
}
// end

/// Asks for a picture of an outside network.
@MainActor private func readme(_ imageView: ImageView, _ url: URL) {
    // guide: README/view
    imageView.kf.indicatorType = .activity
    imageView.kf.setImage(
        with: url,
        options: [
            .processor(RoundCornerImageProcessor(cornerRadius: 20)),
            .cacheSerializer(FormatIndicatedCacheSerializer.png),
            .transition(.fade(1)),
        ]
    ) { result in
        if case .failure(let error) = result { print(error) }
    }
    // end
}

/// A program's `main` cannot stand in a test.
private enum Program {
    // guide: gtk/program
    @MainActor static func main() {
        let application = Application(identifier: "org.example.Viewer") { application in
            let view = ImageView()
            view.kf.setImage(with: URL(string: "https://example.org/kingfisher.jpg"))
            application.show(Window(title: "Kingfisher"), content: view)
        }
        exit(application.run())
    }
    // end
}

// guide: Application/example
enum Viewer {
    @MainActor static func main() {
        let application = Application(identifier: "org.example.Viewer") { application in
            let view = ImageView()
            view.kf.setImage(with: URL(string: "https://example.org/cat.jpg"))
            application.show(Window(title: "Cat"), content: view)
        }
        exit(application.run())
    }
}
// end
