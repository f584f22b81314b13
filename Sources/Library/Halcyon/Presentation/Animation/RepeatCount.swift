/// How often an animation runs.
public enum RepeatCount: Hashable, Sendable {
    /// Once: the same as `finite(count: 1)`.
    case once
    /// `count` times; 0 runs once, too.
    case finite(count: UInt)
    /// Until it is stopped.
    case infinite

    /// What an animated file asks for.
    ///
    /// - Parameter loopCount: As in `AnimationTiming`: 0 means forever.
    public init(loopCount: Int) {
        self = loopCount > 0 ? .finite(count: UInt(loopCount)) : .infinite
    }

    /// The number of runs; `nil` for no limit.
    var limit: UInt? {
        switch self {
        case .once: 1
        case .finite(let count): count
        case .infinite: nil
        }
    }

    public static func == (lhs: RepeatCount, rhs: RepeatCount) -> Bool {
        lhs.limit == rhs.limit
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(limit)
    }
}
