import CGtk4
import HalcyonGTK

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

    isolated deinit {
        g_object_unref(UnsafeMutableRawPointer(clock))
    }

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
