import Synchronization

/// Waits for the value that `start` has somebody hand over, on any thread, exactly once.
///
/// A continuation that carried the value itself would do, were it not for ThreadSanitizer: of a value
/// that comes before the wait has begun it does not see how the runtime orders the two threads, and
/// reports a race where the value is used. The lock makes it visible, to those who check their own
/// programs as well.
func handedOver<Value: Sendable>(
    _ start: (_ hand: @escaping @Sendable (Value) -> Void) -> Void
) async -> Value {
    let place = HandoverPlace<Value>()
    await withCheckedContinuation { continuation in
        start { value in
            place.value.withLock { $0 = value }
            continuation.resume()
        }
    }
    guard let value = place.value.withLock({ $0.take() }) else {
        preconditionFailure("a continuation was resumed before its value was there")
    }
    return value
}

private final class HandoverPlace<Value: Sendable>: Sendable {
    let value = Mutex<Value?>(nil)
}
