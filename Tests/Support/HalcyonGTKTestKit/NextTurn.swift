import CGtk4

/// Waits until the main loop has looked for events and begun another turn.
@MainActor public func nextTurn() async {
    await withCheckedContinuation { continuation in
        let waiter = Unmanaged.passRetained(TurnWaiter(continuation)).toOpaque()
        g_idle_add_full(
            G_PRIORITY_DEFAULT,
            { data in
                if let data { Unmanaged<TurnWaiter>.fromOpaque(data).takeRetainedValue().resume() }
                return gboolean(0)
            }, waiter, nil)
    }
}

private final class TurnWaiter {
    private let continuation: CheckedContinuation<Void, Never>

    init(_ continuation: CheckedContinuation<Void, Never>) { self.continuation = continuation }

    /// Goes on in a later turn: the main actor is served once in each.
    func resume() { continuation.resume() }
}
