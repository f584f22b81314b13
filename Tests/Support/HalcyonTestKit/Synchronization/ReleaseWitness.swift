/// Tells when nothing keeps it any more: an event for the release of what has been given it.
public final class ReleaseWitness: Sendable {
    private let released: @Sendable () -> Void

    public init(_ released: @escaping @Sendable () -> Void) {
        self.released = released
    }

    deinit {
        released()
    }

    /// Does nothing. A closure that calls it keeps the witness.
    public func stay() {}
}
