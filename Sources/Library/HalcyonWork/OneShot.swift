public import Synchronization

/// A value that is given once, by the first caller to do so, and awaited by any number of callers.
///
/// The value passes through a lock, not through the continuation: for a value resumed into a
/// continuation before its wait begins, ThreadSanitizer does not see how the runtime orders the two
/// threads, and would report a race in every program checked with it.
///
/// Public and inlinable: every request uses several, and unspecialized code took a fifteenth of the
/// time of many requests for one picture.
public final class OneShot<Value: Sendable>: Sendable {
    @usableFromInline
    enum State {
        case awaited([@Sendable (Value) -> Void])
        case given(Value)
    }

    @usableFromInline
    let state: Mutex<State>

    @inlinable
    public init() {
        state = Mutex(.awaited([]))
    }

    /// A value that has been given.
    @inlinable
    public init(given value: Value) {
        state = Mutex(.given(value))
    }

    // Otherwise unspecialized code would run at the end of each.
    @inlinable
    deinit {}

    /// Gives the value, unless it has been given, and runs the waiting actions.
    ///
    /// - Returns: Whether this call gave the value.
    @discardableResult
    @inlinable
    public func give(_ value: Value) -> Bool {
        let actions: [@Sendable (Value) -> Void]? = state.withLock { state in
            guard case .awaited(let actions) = state else { return nil }
            state = .given(value)
            return actions
        }
        guard let actions else { return false }
        for action in actions { action(value) }
        return true
    }

    /// Runs `action` once the value has been given: at once if it has been.
    @inlinable
    public func whenGiven(_ action: @escaping @Sendable (Value) -> Void) {
        let given: Value? = state.withLock { state in
            switch state {
            case .given(let value):
                return value
            case .awaited(var actions):
                state = .awaited([])
                actions.append(action)
                state = .awaited(actions)
                return nil
            }
        }
        if let given { action(given) }
    }

    /// Waits for the value.
    @inlinable
    public var value: Value {
        get async {
            if let value = given { return value }
            await withCheckedContinuation { continuation in
                whenGiven { _ in continuation.resume() }
            }
            guard let value = given else {
                preconditionFailure("a value that was given has gone")
            }
            return value
        }
    }

    @inlinable
    package var isGiven: Bool { given != nil }

    @inlinable
    var given: Value? {
        state.withLock { state in
            if case .given(let value) = state { value } else { nil }
        }
    }
}

/// Waits for the value that `start` hands over, on any thread; the first one counts.
@inlinable
public func handedOver<Value: Sendable>(
    _ start: (_ hand: @escaping @Sendable (Value) -> Void) -> Void
) async -> Value {
    let place = OneShot<Value>()
    start { place.give($0) }
    return await place.value
}
