import CGtk4

/// What happens to GTK's objects, told to closures.
enum Event {
    private final class Handler {
        let body: @MainActor () -> Void

        init(_ body: @escaping @MainActor () -> Void) {
            self.body = body
        }
    }

    /// Calls `body` at each emission of a signal, whatever its arguments are, until the object is gone.
    @MainActor static func on(
        _ object: UnsafeMutableRawPointer, _ signal: String, _ body: @escaping @MainActor () -> Void
    ) {
        // G_CONNECT_SWAPPED: the data is the first argument, and the others need not be known.
        let callback: @convention(c) (gpointer?) -> Void = { data in
            guard let data else { return }
            nonisolated(unsafe) let handler = Unmanaged<Handler>.fromOpaque(data)
                .takeUnretainedValue()
            MainActor.assumeIsolated { handler.body() }
        }
        g_signal_connect_data(
            object, signal, unsafeBitCast(callback, to: GCallback.self),
            Unmanaged.passRetained(Handler(body)).toOpaque(),
            { data, _ in
                if let data { Unmanaged<Handler>.fromOpaque(data).release() }
            }, unsafeBitCast(UInt32(2), to: GConnectFlags.self))
    }
}
