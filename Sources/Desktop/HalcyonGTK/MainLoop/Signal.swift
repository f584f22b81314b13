package import CGtk4

/// Connecting closures to the signals of GTK's objects, which emit them on the main thread.
package enum Signal {
    /// A closure that GLib keeps as long as the connection.
    private typealias Handler = @MainActor (_ argument: OpaquePointer?) -> Void

    /// Calls `body` at each emission of a signal, whatever its arguments are, until the object is gone.
    /// `body` must not keep the object's view alive.
    @MainActor @discardableResult
    package static func connect(
        _ object: UnsafeMutableRawPointer, _ name: String, _ body: @escaping @MainActor () -> Void
    ) -> gulong {
        let callback: @convention(c) (gpointer?) -> gboolean = { Signal.handle($0, argument: nil) }
        return connect(object, name, unsafeBitCast(callback, to: GCallback.self)) { _ in body() }
    }

    /// As `connect`, for a signal whose first argument is an object, which `body` is given.
    @MainActor @discardableResult
    static func connectPassingArgument(
        _ object: UnsafeMutableRawPointer, _ name: String,
        _ body: @escaping @MainActor (_ argument: OpaquePointer) -> Void
    ) -> gulong {
        let callback: @convention(c) (gpointer?, gpointer?) -> gboolean = {
            Signal.handle($0, argument: $1)
        }
        return connect(object, name, unsafeBitCast(callback, to: GCallback.self)) { argument in
            if let argument { body(argument) }
        }
    }

    /// - Returns: That others are asked, too, for signals that want to know.
    private static func handle(_ data: gpointer?, argument: gpointer?) -> gboolean {
        guard let data else { return 0 }
        let handler = Retained<Handler>.value(data)
        nonisolated(unsafe) let pointer = argument.map { OpaquePointer($0) }
        MainActor.assumeIsolated { handler(pointer) }
        return 0
    }

    @MainActor private static func connect(
        _ object: UnsafeMutableRawPointer, _ name: String, _ callback: GCallback,
        _ body: @escaping Handler
    ) -> gulong {
        // Swapped: the data is the first argument and the object the last, so that unused arguments
        // need not be declared.
        g_signal_connect_data(
            object, name, callback, Retained<Handler>.pointer(body),
            { data, _ in releaseRetained(data) }, G_CONNECT_SWAPPED)
    }

    @MainActor static func disconnect(_ object: UnsafeMutableRawPointer, _ handler: gulong) {
        g_signal_handler_disconnect(object, handler)
    }
}
