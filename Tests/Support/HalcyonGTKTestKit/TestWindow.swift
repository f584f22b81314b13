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

    isolated deinit { gtk_window_destroy(window) }

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

/// A container that gives one view a fixed size, whatever the window's, and counts its drawings.
@MainActor final class TestStage: Canvas {
    /// The size of the view, in points.
    var extent: CGSize { didSet { setNeedsLayout() } }

    /// The number of times that the view was drawn.
    private(set) var drawings = 0

    private let view: View

    init(_ view: View, size: CGSize) {
        self.view = view
        extent = size
        super.init()
        gtk_widget_set_parent(view.gtkWidget, gtkWidget)
    }

    /// A transparent bitmap of the view's size.
    var emptyPicture: Bitmap {
        let size = PixelSize(points: extent, scale: scaleFactor)
        guard let bitmap = Bitmap(pixels: Data(count: size.pixelCount * 4), size: size) else {
            preconditionFailure("a view has a size")
        }
        return bitmap
    }

    override func measure(
        _ direction: Direction, other: CGFloat?
    ) -> (minimum: CGFloat, natural: CGFloat) {
        let length = direction == .horizontal ? extent.width : extent.height
        return (length, length)
    }

    override func layout(size: CGSize) {
        gtk_widget_allocate(view.gtkWidget, gint(extent.width), gint(extent.height), -1, nil)
    }

    override func draw(in snapshot: Snapshot) {
        super.draw(in: snapshot)
        drawings += 1
    }
}

/// Draws frames of a window until a condition holds at the end of one.
@MainActor final class TestFrames {
    /// Seconds after which it gives up.
    static let limit = 240

    private let stage: TestStage
    private let clock: OpaquePointer
    private let condition: () -> Bool
    private var drawings = 0
    private var handlers: (paint: gulong, timer: guint)?
    private var waiter: CheckedContinuation<Bool, Never>?

    /// - Returns: `nil` when the window is gone.
    init?(of stage: TestStage, until condition: @escaping () -> Bool) {
        guard let clock = gtk_widget_get_frame_clock(stage.gtkWidget) else { return nil }
        self.stage = stage
        self.clock = clock
        self.condition = condition
        g_object_ref(UnsafeMutableRawPointer(clock))
    }

    isolated deinit { g_object_unref(UnsafeMutableRawPointer(clock)) }

    /// Returns whether the condition held before the limit, and before the task was cancelled.
    func run() async -> Bool {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard !Task.isCancelled else { return continuation.resume(returning: false) }
                waiter = continuation
                begin()
            }
        } onCancel: {
            Task { @MainActor in self.end(false) }
        }
    }

    private func begin() {
        let painted: @convention(c) (gpointer?, gpointer?) -> Void = { _, data in
            TestFrames.with(data) { $0.frameEnded() }
        }
        handlers = (
            g_signal_connect_data(
                UnsafeMutableRawPointer(clock), "after-paint",
                unsafeBitCast(painted, to: GCallback.self), retainedSelf,
                { data, _ in TestFrames.release(data) }, GConnectFlags(0)),
            g_timeout_add_seconds_full(
                G_PRIORITY_DEFAULT, guint(Self.limit),
                { data in
                    TestFrames.with(data) { $0.end(false) }
                    return gboolean(1)
                }, retainedSelf, { data in TestFrames.release(data) })
        )
        request()
    }

    private func request() {
        drawings = stage.drawings
        stage.setNeedsDisplay()
        gdk_frame_clock_request_phase(clock, GDK_FRAME_CLOCK_PHASE_PAINT)
    }

    private func frameEnded() {
        // A frame without this window, such as one before it has its place on the screen.
        guard stage.drawings > drawings, condition() else { return request() }
        end(true)
    }

    private func end(_ result: Bool) {
        guard let handlers else { return }
        self.handlers = nil
        g_signal_handler_disconnect(UnsafeMutableRawPointer(clock), handlers.paint)
        g_source_remove(handlers.timer)
        waiter?.resume(returning: result)
        waiter = nil
    }

    private var retainedSelf: UnsafeMutableRawPointer { Unmanaged.passRetained(self).toOpaque() }

    private nonisolated static func with(
        _ data: gpointer?, _ body: @MainActor (TestFrames) -> Void
    ) {
        guard let data else { return }
        let frames = Unmanaged<TestFrames>.fromOpaque(data)
            .takeUnretainedValue()
        MainActor.assumeIsolated { body(frames) }
    }

    private nonisolated static func release(_ data: gpointer?) {
        if let data { Unmanaged<TestFrames>.fromOpaque(data).release() }
    }
}
