import CGtk4

/// Connecting closures to the signals of GTK's objects, which emit them on the main thread.
enum Signal {
    /// A closure that GLib keeps as long as the connection.
    private final class Handler {
        let body: @MainActor () -> Void

        init(_ body: @escaping @MainActor () -> Void) {
            self.body = body
        }

        static func run(_ data: gpointer?) {
            guard let data else { return }
            let handler = Unmanaged<Handler>.fromOpaque(data).takeUnretainedValue()
            nonisolated(unsafe) let running = handler
            MainActor.assumeIsolated { running.body() }
        }
    }

    /// Calls `body` at each emission of a signal without arguments, such as `clicked` or `map`, until
    /// the object is gone. `body` must not keep the object's view alive.
    @MainActor @discardableResult
    static func connect(
        _ object: UnsafeMutableRawPointer, _ name: String, _ body: @escaping @MainActor () -> Void
    ) -> gulong {
        let callback: @convention(c) (gpointer?, gpointer?) -> Void = { _, data in
            Handler.run(data)
        }
        return connect(object, name, unsafeBitCast(callback, to: GCallback.self), body)
    }

    /// As `connect`, for a signal with one argument, such as `notify` or `state-flags-changed`.
    @MainActor @discardableResult
    static func connectIgnoringArgument(
        _ object: UnsafeMutableRawPointer, _ name: String, _ body: @escaping @MainActor () -> Void
    ) -> gulong {
        let callback: @convention(c) (gpointer?, gpointer?, gpointer?) -> Void = { _, _, data in
            Handler.run(data)
        }
        return connect(object, name, unsafeBitCast(callback, to: GCallback.self), body)
    }

    /// As `connect`, for the signals of a `GtkGestureClick`, such as `released`.
    @MainActor @discardableResult
    static func connectClick(
        _ object: UnsafeMutableRawPointer, _ name: String, _ body: @escaping @MainActor () -> Void
    ) -> gulong {
        let callback: @convention(c) (gpointer?, gint, gdouble, gdouble, gpointer?) -> Void = {
            _, _, _, _, data in Handler.run(data)
        }
        return connect(object, name, unsafeBitCast(callback, to: GCallback.self), body)
    }

    @MainActor private static func connect(
        _ object: UnsafeMutableRawPointer, _ name: String, _ callback: GCallback,
        _ body: @escaping @MainActor () -> Void
    ) -> gulong {
        let data = Unmanaged.passRetained(Handler(body)).toOpaque()
        return g_signal_connect_data(
            object, name, callback, data,
            { data, _ in
                if let data { Unmanaged<Handler>.fromOpaque(data).release() }
            }, GConnectFlags(0))
    }

    /// Ends a connection.
    @MainActor static func disconnect(_ object: UnsafeMutableRawPointer, _ handler: gulong) {
        g_signal_handler_disconnect(object, handler)
    }
}
