import CGtk4
import Foundation
import HalcyonGTKTestKit
import HalcyonTestKit
import Testing

@testable import Halcyon
@testable import HalcyonGTK

@MainActor @Suite(.timeLimit(.minutes(10)), .enabled(if: TestDisplay.isAvailable))
struct ViewLifetimeTests {
    private func box() -> UnsafeMutablePointer<GtkWidget> {
        let box: UnsafeMutablePointer<GtkWidget> = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0)
        g_object_ref_sink(box)
        return box
    }

    private func append(_ view: View, to box: UnsafeMutablePointer<GtkWidget>) {
        gtk_box_append(
            UnsafeMutableRawPointer(box).assumingMemoryBound(to: GtkBox.self), view.gtkWidget)
    }

    @Test func aThousandViewsLeaveNothing() {
        let count = LiveObjects()
        let picture = image(.solid(.red, width: 4, height: 4))
        for number in 0..<1000 {
            let view = ImageView(image: picture)
            view.kf.indicatorType = .activity
            view.addOverlay(Label("\(number)"), placement: OverlayPlacement())
            let button = Button()
            button.setImage(picture, for: .normal)
            button.onClick = { [weak button] in button?.isEnabled = false }
            for view in [view, button, view.kf.indicator?.view as? View] {
                if let view { count.watch(view) }
            }
        }
        #expect(count.watched == 3000 && count.alive == 0)
    }

    @Test func aThousandViewsInAContainerGoWithIt() {
        let count = LiveObjects()
        let box = box()
        for _ in 0..<1000 {
            let view = ImageView(image: image(.solid(.red, width: 4, height: 4)))
            view.addOverlay(Label("x"), placement: OverlayPlacement())
            count.watch(view)
            append(view, to: box)
        }
        #expect(count.alive == 1000)
        #expect((gtk_widget_get_first_child(box).flatMap(View.of) as? ImageView)?.image != nil)
        g_object_unref(box)
        #expect(count.alive == 0)
    }

    // MARK: Asking for the widget

    /// Nobody keeps the views: each is gone for Swift as soon as the pointer of its widget was read.
    @Test func theWidgetOfAViewThatNobodyKeepsGoesIntoAContainer() async {
        let count = LiveObjects()
        let widget = box()
        let box = UnsafeMutableRawPointer(widget).assumingMemoryBound(to: GtkBox.self)
        for number in 0..<100 {
            gtk_box_append(box, Label("\(number)").widget)
            gtk_box_append(box, imageView(watchedBy: count).widget)
        }
        #expect(count.alive == 100)
        await nextTurn()
        let first = gtk_widget_get_first_child(widget).flatMap(View.of) as? Label
        #expect(count.alive == 100 && first?.text == "0" && first?.isAutoreleased == false)
        g_object_unref(widget)
        #expect(count.alive == 0)
    }

    @inline(never) private func imageView(watchedBy count: LiveObjects) -> ImageView {
        let view = ImageView(image: image(.solid(.red, width: 4, height: 4)))
        count.watch(view)
        return view
    }

    @Test func aWidgetThatNobodyTakesIsThereUntilTheNextTurn() async {
        let count = LiveObjects()
        let widget = imageView(watchedBy: count).widget
        #expect(count.alive == 1 && View.of(widget) is ImageView)
        #expect(imageView(watchedBy: count).widget != widget)
        while count.alive > 0, !Task.isCancelled { await nextTurn() }
        #expect(count.alive == 0)
    }

    @Test func aViewIsAutoreleasedOnceInATurnAndAgainInTheNext() async {
        let view = ImageView()
        for _ in 0..<3 {
            await nextTurn()
            let before = ViewAutoreleasePool.count
            #expect(view.widget == view.widget)
            #expect(ViewAutoreleasePool.count == before + 1 && view.isAutoreleased)
        }
    }

    @Test func aViewMayAskForItsWidgetWhileItIsDestroyed() async {
        let count = LiveObjects()
        let names = Recorder<String>()
        do {
            let view = FarewellView { names.record($0) }
            count.watch(view)
        }
        #expect(names.events == ["GtkLabel"] && count.alive == 0)
        await nextTurn()
    }

    @Test func aViewThatIsKeptOutlivesItsContainer() {
        let count = LiveObjects()
        let box = box()
        var view: ImageView? = ImageView()
        count.watch(view!)
        append(view!, to: box)
        g_object_unref(box)
        #expect(count.alive == 1 && gtk_widget_get_parent(view!.gtkWidget) == nil)
        view = nil
        #expect(count.alive == 0)
    }

    @Test func aWindowGoesWhenItIsClosed() async {
        let count = LiveObjects()
        weak var weakWindow: Window?
        do {
            let window = Window(title: "Cat", width: 30, height: 20)
            weakWindow = window
            let view = ImageView()
            window.content = view
            count.watch(window)
            count.watch(view)
            window.present()
            #expect(window.content === view && window.title == "Cat")
        }
        #expect(count.alive == 2)
        weakWindow?.close()
        // GTK itself lets go of a window when the display has answered.
        await count.waitUntilGone()
        #expect(weakWindow == nil)
    }

    @Test func theLastReferenceMayGoOnAnotherThread() async {
        let count = LiveObjects()
        do {
            let view = ImageView(image: image(.solid(.red, width: 4, height: 4)))
            count.watch(view)
            let holder = Locked<ImageView?>(view)
            Task.detached {
                await Task.yield()
                holder.set(nil)
            }
        }
        await count.waitUntilGone()
        #expect(count.alive == 0)
    }

    @Test func anImageViewTakesItsLabelFromAnother() {
        let label = Label("x")
        let (first, second) = (ImageView(), ImageView())
        first.addOverlay(label, placement: OverlayPlacement())
        second.addOverlay(label, placement: OverlayPlacement())
        #expect(gtk_widget_get_parent(label.widget) == second.widget)
        first.removeOverlay(label)
        #expect(gtk_widget_get_parent(label.widget) == second.widget)
        second.removeOverlay(label)
        #expect(gtk_widget_get_parent(label.widget) == nil)
    }
}

/// Says the class of its widget when it goes.
@MainActor private final class FarewellView: View {
    private let say: (String) -> Void

    init(_ say: @escaping (String) -> Void) {
        self.say = say
        super.init(widget: gtk_label_new("x"))
    }

    isolated deinit { say(cgtk_type_name(widget).map { String(cString: $0) } ?? "") }
}
