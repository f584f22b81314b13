import CGtk4
import Foundation
public import Halcyon
public import HalcyonGTK
public import Testing

/// A window that shows one view at a fixed size, for tests; closed with its last reference.
///
/// Pixels are read directly after a frame was drawn, so that they belong to the expected state. A
/// timeout is recorded as an issue of the test, not a hang.
@MainActor public final class TestWindow {
    /// The view in the window.
    public let view: View
    private let stage: TestStage
    private let window: UnsafeMutablePointer<GtkWindow>

    /// Shows `view` and waits until it is drawn.
    ///
    /// - Parameter size: The size of the view, in points.
    public init(_ view: View, width: Int, height: Int) async {
        self.view = view
        stage = TestStage(view, size: CGSize(width: width, height: height))
        let widget: UnsafeMutablePointer<GtkWidget> = gtk_window_new()
        window = UnsafeMutableRawPointer(widget).assumingMemoryBound(to: GtkWindow.self)
        gtk_window_set_decorated(window, 0)
        gtk_window_set_child(window, stage.gtkWidget)
        gtk_window_present(window)
        await nextFrame()
    }

    isolated deinit {
        gtk_window_destroy(window)
    }

    /// Resizes the view, as a user does by resizing the window.
    public func resize(width: Int, height: Int) async {
        stage.extent = CGSize(width: width, height: height)
        await nextFrame()
    }

    /// Draws a frame and waits until it is on the screen.
    public func nextFrame(_ sourceLocation: SourceLocation = #_sourceLocation) async {
        await drawFrames(sourceLocation) { true }
    }

    /// Draws frames until `condition` holds; it is checked at once and after each frame.
    public func frames(
        _ sourceLocation: SourceLocation = #_sourceLocation, until condition: @escaping () -> Bool
    ) async {
        if !condition() { await drawFrames(sourceLocation, until: condition) }
    }

    /// Makes a separate renderer for this window; `nil` if there is none of this kind. It must be
    /// released before the window.
    public func makeRenderer(_ kind: TestRenderer.Kind) -> TestRenderer? {
        gtk_widget_get_native(view.gtkWidget).flatMap(gtk_native_get_surface)
            .flatMap { TestRenderer(kind, surface: $0) }
    }

    /// Returns the view's drawing in the next frame for which `condition` holds.
    ///
    /// - Parameter renderer: The renderer to draw with; by default that of the window.
    public func screenshot(
        by renderer: TestRenderer? = nil, _ sourceLocation: SourceLocation = #_sourceLocation,
        when condition: @escaping (Bitmap) -> Bool = { _ in true }
    ) async -> Bitmap {
        var last: Bitmap?
        await drawFrames(sourceLocation) { [view] in
            last = renderer.map { view.drawnPixels(by: $0.pointer) } ?? view.drawnPixels()
            return last.map(condition) ?? false
        }
        return last ?? stage.emptyPicture
    }

    private func drawFrames(
        _ sourceLocation: SourceLocation, until condition: @escaping () -> Bool
    ) async {
        guard let frames = TestFrames(of: stage, until: condition) else {
            Issue.record("the window is gone", sourceLocation: sourceLocation)
            return
        }
        guard await !frames.run(), !Task.isCancelled else { return }
        Issue.record(
            "what was to be seen did not come within \(TestFrames.limit) seconds",
            sourceLocation: sourceLocation)
    }
}

/// A GTK renderer for the surface of a window.
@MainActor public final class TestRenderer {
    /// A kind of renderer.
    public enum Kind: Sendable {
        /// Drawing on the CPU; always available.
        case cairo
        /// Drawing by OpenGL, on the GPU or in software.
        case gl
    }

    /// The `GskRenderer`.
    public let pointer: OpaquePointer

    fileprivate init?(_ kind: Kind, surface: OpaquePointer) {
        guard let made = kind == .cairo ? gsk_cairo_renderer_new() : gsk_gl_renderer_new() else {
            return nil
        }
        guard gsk_renderer_realize(made, surface, nil) != 0 else {
            g_object_unref(UnsafeMutableRawPointer(made))
            return nil
        }
        pointer = made
    }

    isolated deinit {
        gsk_renderer_unrealize(pointer)
        g_object_unref(UnsafeMutableRawPointer(pointer))
    }
}
