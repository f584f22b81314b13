import Synchronization

/// A value that comes once, from whoever is first to give it, and that one task waits for.
///
/// The value passes through a lock, not through the continuation: of a value that a continuation
/// carries to a wait that has not begun yet, ThreadSanitizer does not see how the runtime orders the
/// two threads, and would report a race to everybody who checks a program with it.
package final class OneShot<Value: Sendable>: Sendable {
    private enum State {
        case empty
        case awaited(CheckedContinuation<Void, Never>)
        case given(Value)
        case taken

        var isGiven: Bool {
            switch self {
            case .empty, .awaited: false
            case .given, .taken: true
            }
        }
    }

    private struct Place {
        var state = State.empty
        var afterwards: [@Sendable () -> Void] = []
    }

    private let place = Mutex(Place())

    package init() {}

    /// Gives the value, unless that has been done.
    ///
    /// - Returns: Whether it was this call that gave it.
    @discardableResult
    package func give(_ value: Value) -> Bool {
        let former: Place? = place.withLock { place in
            guard !place.state.isGiven else { return nil }
            defer { place = Place(state: .given(value)) }
            return place
        }
        guard let former else { return false }
        if case .awaited(let continuation) = former.state { continuation.resume() }
        for action in former.afterwards { action() }
        return true
    }

    /// Runs `action` once the value has been given: at once if it has been.
    package func whenGiven(_ action: @escaping @Sendable () -> Void) {
        let isLate = place.withLock { place in
            if !place.state.isGiven { place.afterwards.append(action) }
            return place.state.isGiven
        }
        if isLate { action() }
    }

    /// Waits for the value. To be asked for once.
    package var value: Value {
        get async {
            if let value = take() { return value }
            await withCheckedContinuation { continuation in
                let isThere = place.withLock { place in
                    guard case .empty = place.state else { return true }
                    place.state = .awaited(continuation)
                    return false
                }
                if isThere { continuation.resume() }
            }
            guard let value = take() else {
                preconditionFailure("a value that comes once was waited for twice")
            }
            return value
        }
    }

    private func take() -> Value? {
        place.withLock { place in
            guard case .given(let value) = place.state else { return nil }
            place.state = .taken
            return value
        }
    }
}

/// Waits for the value that `start` has somebody hand over, on any thread; the first one counts.
package func handedOver<Value: Sendable>(
    _ start: (_ hand: @escaping @Sendable (Value) -> Void) -> Void
) async -> Value {
    let place = OneShot<Value>()
    start { place.give($0) }
    return await place.value
}
