public import Synchronization

/// A value that comes once, from whoever is first to give it, and that any number of callers wait for.
///
/// The value passes through a lock, not through the continuation: of a value that a continuation
/// carries to a wait that has not begun yet, ThreadSanitizer does not see how the runtime orders the
/// two threads, and would report a race to everybody who checks a program with it.
///
/// Public, and its code too: every request passes through some, and code for any kind of value was a
/// fifteenth of the time of many that want one picture.
public final class OneShot<Value: Sendable>: Sendable {
    @usableFromInline
    enum State {
        /// What is to be done when the value comes.
        case awaited([@Sendable (Value) -> Void])
        case given(Value)
    }

    @usableFromInline
    let state: Mutex<State>

    @inlinable
    public init() {
        state = Mutex(.awaited([]))
    }

    /// A value that is there.
    @inlinable
    public init(given value: Value) {
        state = Mutex(.given(value))
    }

    // Else the code for any kind of value would run at the end of each.
    @inlinable
    deinit {}

    /// Gives the value, unless that has been done, and does what waited for it.
    ///
    /// - Returns: Whether it was this call that gave it.
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

    /// Whether the value is there.
    package var isGiven: Bool { given != nil }

    @inlinable
    var given: Value? {
        state.withLock { state in
            if case .given(let value) = state { value } else { nil }
        }
    }
}

/// Waits for the value that `start` has somebody hand over, on any thread; the first one counts.
@inlinable
public func handedOver<Value: Sendable>(
    _ start: (_ hand: @escaping @Sendable (Value) -> Void) -> Void
) async -> Value {
    let place = OneShot<Value>()
    start { place.give($0) }
    return await place.value
}
