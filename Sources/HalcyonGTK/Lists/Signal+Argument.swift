import CGtk4

extension Signal {
    /// A closure that GLib keeps as long as the connection.
    private final class ArgumentHandler {
        let body: @MainActor (OpaquePointer) -> Void

        init(_ body: @escaping @MainActor (OpaquePointer) -> Void) {
            self.body = body
        }
    }

    /// As `connect`, for a signal with one argument that is an object, which `body` is given.
    @MainActor @discardableResult
    static func connectPassingArgument(
        _ object: UnsafeMutableRawPointer, _ name: String,
        _ body: @escaping @MainActor (_ argument: OpaquePointer) -> Void
    ) -> gulong {
        let callback: @convention(c) (gpointer?, gpointer?, gpointer?) -> Void = {
            _, argument, data in
            guard let argument, let data else { return }
            nonisolated(unsafe) let handler = Unmanaged<ArgumentHandler>.fromOpaque(data)
                .takeUnretainedValue()
            nonisolated(unsafe) let pointer = OpaquePointer(argument)
            MainActor.assumeIsolated { handler.body(pointer) }
        }
        return g_signal_connect_data(
            object, name, unsafeBitCast(callback, to: GCallback.self),
            Unmanaged.passRetained(ArgumentHandler(body)).toOpaque(),
            { data, _ in
                if let data { Unmanaged<ArgumentHandler>.fromOpaque(data).release() }
            }, GConnectFlags(0))
    }
}
