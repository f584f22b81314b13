import CGtk4
import Foundation
public import Halcyon
public import HalcyonGTK

/// A window that shows one view at a fixed size, for tests; gone with its last reference.
@MainActor public final class TestWindow {
    /// The view it shows.
    public let view: View
    private let window: UnsafeMutablePointer<GtkWindow>

    /// Shows `view` and waits until it is drawn.
    ///
    /// - Parameter size: The size of the view, in points; no larger than the screen, 1280 × 1024.
    public init(_ view: View, width: Int, height: Int) async {
        self.view = view
        let widget: UnsafeMutablePointer<GtkWidget> = gtk_window_new()
        window = UnsafeMutableRawPointer(widget).assumingMemoryBound(to: GtkWindow.self)
        gtk_window_set_decorated(window, 0)
        // A window that cannot be resized would grow with what the view wants to be.
        gtk_window_set_default_size(window, gint(width), gint(height))
        gtk_widget_set_size_request(view.widget, gint(width), gint(height))
        gtk_window_set_child(window, view.widget)
        gtk_window_present(window)
        await nextFrame()
        // A window gets its size from the display, which may take more than one frame.
        await frames { hasSize(width, height) }
    }

    isolated deinit {
        gtk_window_destroy(window)
    }

    /// Gives the view another size, as a user does who resizes the window.
    public func resize(width: Int, height: Int) async {
        gtk_widget_set_size_request(view.widget, gint(width), gint(height))
        gtk_window_set_default_size(window, gint(width), gint(height))
        await frames { hasSize(width, height) }
    }

    /// Whether the view has this size, border and padding included.
    private func hasSize(_ width: Int, _ height: Int) -> Bool {
        gtk_widget_get_allocated_width(view.widget) == width
            && gtk_widget_get_allocated_height(view.widget) == height
    }

    /// Draws a frame and waits until it is on the screen.
    public func nextFrame() async {
        let widget = UnsafeMutableRawPointer(window).assumingMemoryBound(to: GtkWidget.self)
        guard let clock = gtk_widget_get_frame_clock(widget) else { return }
        gtk_widget_queue_draw(widget)
        let painted = FramePainted(clock)
        gdk_frame_clock_request_phase(clock, GDK_FRAME_CLOCK_PHASE_PAINT)
        await painted.wait()
    }

    /// Draws frames until `condition` holds.
    public func frames(until condition: () -> Bool) async {
        while !condition(), !Task.isCancelled { await nextFrame() }
    }

    /// A renderer of its own for this window; `nil` when there is none of this kind. To be gone before
    /// the window.
    public func makeRenderer(_ kind: TestRenderer.Kind) -> TestRenderer? {
        gtk_widget_get_native(view.widget).flatMap(gtk_native_get_surface)
            .flatMap { TestRenderer(kind, surface: $0) }
    }

    /// What the view looks like with the next frame.
    public func screenshot() async -> Bitmap {
        await nextFrame()
        guard let bitmap = view.screenshot() else {
            preconditionFailure("the view of a window was not drawn")
        }
        return bitmap
    }
}

/// One of GTK's ways to draw, for the surface of a window.
@MainActor public final class TestRenderer {
    /// A kind of renderer.
    public enum Kind: Sendable {
        /// The processor draws; always there.
        case cairo
        /// The graphics processor draws, or a program that does as if.
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

/// Waits for the end of one frame.
@MainActor private final class FramePainted {
    private let clock: OpaquePointer
    private var handler: gulong = 0
    private var isOver = false
    private var waiter: CheckedContinuation<Void, Never>?

    init(_ clock: OpaquePointer) {
        self.clock = clock
        let painted: @convention(c) (gpointer?, gpointer?) -> Void = { _, data in
            guard let data else { return }
            let frame = Unmanaged<FramePainted>.fromOpaque(data)
            MainActor.assumeIsolated { frame.takeUnretainedValue().end() }
        }
        g_object_ref(UnsafeMutableRawPointer(clock))
        handler = g_signal_connect_data(
            UnsafeMutableRawPointer(clock), "after-paint",
            unsafeBitCast(painted, to: GCallback.self),
            Unmanaged.passRetained(self).toOpaque(),
            { data, _ in
                if let data { Unmanaged<FramePainted>.fromOpaque(data).release() }
            }, GConnectFlags(rawValue: 0))
    }

    func wait() async {
        guard !isOver else { return }
        await withCheckedContinuation { waiter = $0 }
    }

    private func end() {
        guard !isOver else { return }
        isOver = true
        g_signal_handler_disconnect(UnsafeMutableRawPointer(clock), handler)
        g_object_unref(UnsafeMutableRawPointer(clock))
        waiter?.resume()
        waiter = nil
    }
}
