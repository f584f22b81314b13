package import CGtk4

/// Connecting closures to the signals of GTK's objects, which emit them on the main thread.
package enum Signal {
    /// A closure that GLib keeps as long as the connection.
    private typealias Handler = @MainActor (_ argument: OpaquePointer?) -> Bool

    /// Calls `body` at each emission of a signal, whatever its arguments are, until the object is gone.
    /// `body` must not keep the object's view alive.
    @MainActor @discardableResult
    package static func connect(
        _ object: UnsafeMutableRawPointer, _ name: String, _ body: @escaping @MainActor () -> Void
    ) -> gulong {
        attach(object, name) { _ in
            body()
            return false
        }
    }

    /// As `connect`, for a signal whose first argument is an object or a value, which `body` is given.
    @MainActor @discardableResult
    package static func connectPassingArgument(
        _ object: UnsafeMutableRawPointer, _ name: String,
        _ body: @escaping @MainActor (_ argument: OpaquePointer) -> Void
    ) -> gulong {
        attach(object, name) { argument in
            guard let argument else { return false }
            body(argument)
            return true
        }
    }

    /// As `connect`, for a signal whose first argument is a number of 32 bits, which `body` is given.
    @MainActor package static func connectPassingNumber(
        _ object: UnsafeMutableRawPointer, _ name: String,
        _ body: @escaping @MainActor (Int) -> Void
    ) {
        attach(object, name) { argument in
            body(Int(Int32(truncatingIfNeeded: Int(bitPattern: argument))))
            return false
        }
    }

    /// As `connect`, for a signal of two floating-point numbers. `body` returns whether it has dealt with the event, for
    /// signals that ask.
    @MainActor static func connectPassingNumbers(
        _ object: UnsafeMutableRawPointer, _ name: String,
        _ body: @escaping @MainActor (Double, Double) -> Bool
    ) {
        typealias Body = @MainActor (Double, Double) -> Bool
        let callback: @convention(c) (gpointer?, Double, Double, gpointer?) -> gboolean = {
            _, x, y, data in
            guard let data else { return 0 }
            let body = Retained<Body>.value(data)
            return MainActor.assumeIsolated { body(x, y) ? 1 : 0 }
        }
        g_signal_connect_data(
            object, name, unsafeBitCast(callback, to: GCallback.self), Retained<Body>.pointer(body),
            { data, _ in releaseRetained(data) }, GConnectFlags(0))
    }

    /// - Parameter handler: Given the first argument as a pointer, also where it is none.
    @MainActor @discardableResult
    private static func attach(
        _ object: UnsafeMutableRawPointer, _ name: String, _ handler: @escaping Handler
    ) -> gulong {
        // The result counts for signals that ask whether an event was dealt with.
        let callback: @convention(c) (gpointer?, gpointer?) -> gboolean = { data, argument in
            guard let data else { return 0 }
            let handler = Retained<Handler>.value(data)
            nonisolated(unsafe) let pointer = argument.map { OpaquePointer($0) }
            return MainActor.assumeIsolated { handler(pointer) ? 1 : 0 }
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
