/// What a response waits for.
public enum Pause: Sendable {
    /// A time on the server's clock.
    case duration(Duration)
    /// Until the gate is open.
    case gate(Gate)
}
