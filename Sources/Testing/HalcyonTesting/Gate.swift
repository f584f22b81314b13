import HalcyonWork

/// A latch that a test opens: all waiting tasks continue, and later ones do not wait.
public final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var waiting = 0
    }

    private let state = Observed(State())

    /// A closed gate.
    public init() {}

    /// Whether the gate has been opened; it never closes again.
    public var isOpen: Bool { state.value.isOpen }

    /// The number of waiting tasks.
    public var waiterCount: Int { state.value.waiting }

    /// Opens the gate for good; opening it again does nothing.
    public func open() {
        state.update { $0.isOpen = true }
    }

    /// Waits until the gate is open.
    ///
    /// - Throws: `CancellationError` when the task is cancelled while the gate is closed.
    public func wait() async throws {
        if isOpen { return }
        state.update { $0.waiting += 1 }
        defer { state.update { $0.waiting -= 1 } }
        guard await state.wait(until: { $0.isOpen }) != nil else { throw CancellationError() }
    }

    /// Waits until at least `count` tasks wait at the gate, or it is open; returns at once when
    /// cancelled.
    public func waitForWaiters(_ count: Int = 1) async {
        await state.wait { $0.isOpen || $0.waiting >= count }
    }
}
