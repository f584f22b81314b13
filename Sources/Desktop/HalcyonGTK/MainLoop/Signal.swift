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
        attach(object, name) { _ in body() }
    }

    /// As `connect`, for a signal whose first argument is an object, which `body` is given.
    @MainActor @discardableResult
    static func connectPassingArgument(
        _ object: UnsafeMutableRawPointer, _ name: String,
        _ body: @escaping @MainActor (_ argument: OpaquePointer) -> Void
    ) -> gulong {
        attach(object, name) { argument in
            if let argument { body(argument) }
        }
    }

    /// - Parameter handler: Given the first argument as a pointer, also where it is none.
    @MainActor private static func attach(
        _ object: UnsafeMutableRawPointer, _ name: String, _ handler: @escaping Handler
    ) -> gulong {
        // Returns that others are asked, too, for signals that want to know.
        let callback: @convention(c) (gpointer?, gpointer?) -> gboolean = { data, argument in
            guard let data else { return 0 }
            let handler = Retained<Handler>.value(data)
            nonisolated(unsafe) let pointer = argument.map { OpaquePointer($0) }
            MainActor.assumeIsolated { handler(pointer) }
            return 0
        }
        // Swapped: the data is the first argument and the object the last, so that unused arguments
        // need not be declared.
        return g_signal_connect_data(
            object, name, unsafeBitCast(callback, to: GCallback.self),
            Retained<Handler>.pointer(handler), { data, _ in releaseRetained(data) },
            G_CONNECT_SWAPPED)
    }

    @MainActor static func disconnect(_ object: UnsafeMutableRawPointer, _ handler: gulong) {
        g_signal_handler_disconnect(object, handler)
    }
}
