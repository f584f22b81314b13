import CGtk4
import Foundation

/// Swift's main actor inside GLib's main loop.
///
/// GTK owns the main thread: its loop runs until the program ends. Once attached, that loop also
/// runs the jobs of the main actor and of `DispatchQueue.main`, so that `await` and completion
/// handlers work as in any other program. The loop may be run by `Application`,
/// `g_application_run`, a `GMainLoop` or another Swift wrapper of GTK.
///
/// A program that shows views starts synchronously (`static func main()`, not `async`): an
/// asynchronous `main` gives the main thread away for good.
public enum MainLoop {
    /// The place of the main actor's work among the sources of the loop: with drawing, and after the
    /// events of the user. Neither drawing nor the main actor can keep the other from its turn.
    static let priority = gint(GDK_PRIORITY_REDRAW)

    @MainActor private static var isAttached = false

    /// Makes GLib's default main loop serve the main actor. Further calls do nothing.
    ///
    /// Every view calls this; a program needs to only when it awaits something before its first view.
    @MainActor public static func attach() {
        guard !isAttached else { return }
        isAttached = true
        guard let source = g_unix_fd_source_new(_dispatch_get_main_queue_handle_4CF(), G_IO_IN)
        else { return }
        let serve: GUnixFDSourceFunc = { handle, _, _ in
            // The announcement is taken from the handle, which would stay readable. There is
            // none if the queue was served elsewhere meanwhile.
            var count: UInt64 = 0
            _ = read(handle, &count, MemoryLayout<UInt64>.size)
            MainLoopMeter.measureWork { _dispatch_main_queue_callback_4CF(nil) }
            return gboolean(1)
        }
        g_source_set_priority(source, priority)
        g_source_set_name(source, "Swift main actor")
        // GLib calls the function with the arguments of its kind of source.
        g_source_set_callback(source, unsafeBitCast(serve, to: GSourceFunc.self), nil, nil)
        g_source_attach(source, nil)
        g_source_unref(source)

        // What was waiting before there was a handle has not announced itself.
        g_idle_add_full(
            priority,
            { _ in
                _dispatch_main_queue_callback_4CF(nil)
                return gboolean(0)
            }, nil, nil)
    }
}
