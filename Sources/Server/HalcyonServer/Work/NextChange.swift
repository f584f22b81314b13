import HalcyonWork

/// The next change of a value, for those who wait for it; kept under the lock of the value.
struct NextChange: Sendable {
    private var arrival: OneShot<Void>?

    /// Given at the next change. Whoever waits asks for this first, and looks at the value then.
    mutating func awaited() -> OneShot<Void> {
        let awaited = arrival ?? OneShot()
        arrival = awaited
        return awaited
    }

    /// To be given when the lock has been released; `nil` when nobody waits.
    mutating func taken() -> OneShot<Void>? {
        defer { arrival = nil }
        return arrival
    }

    /// Waits until a value is as wanted.
    ///
    /// - Parameter look: The value and its ``awaited()`` change, both from under one lock.
    static func wait<Value>(
        for isReached: (Value) -> Bool, _ look: () -> (Value, OneShot<Void>)
    ) async {
        while true {
            let (value, change) = look()
            if isReached(value) { return }
            await change.value
        }
    }
}
