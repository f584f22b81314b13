import Synchronization

/// Numbers uses in their order, whichever thread they are of.
struct UseClock: ~Copyable, Sendable {
    private let uses = Atomic(UInt64(0))
    /// Keeps what lies behind out of the cache lines of the counter, which each use changes.
    private let padding = InlineArray<16, UInt64>(repeating: 0)

    /// A number above all before it.
    func next() -> UInt64 {
        uses.wrappingAdd(1, ordering: .relaxed).oldValue
    }
}
