/// The `.kf` namespace: Halcyon's additions to `Base` are extensions of this wrapper.
public struct KingfisherWrapper<Base>: @unchecked Sendable {
    // Unchecked because `Base` may be main-actor state that is not `Sendable`; every member that
    // touches such a base is itself isolated to the main actor.

    /// The wrapped value.
    public let base: Base

    /// Wraps `base`.
    public init(_ base: Base) {
        self.base = base
    }
}

/// A class whose instances have a `.kf` namespace.
public protocol KingfisherCompatible: AnyObject {}

/// A value type whose values have a `.kf` namespace.
public protocol KingfisherCompatibleValue {}

extension KingfisherCompatible {
    /// Halcyon's members for this object. The setter does nothing; it lets mutating members work.
    public var kf: KingfisherWrapper<Self> {
        get { KingfisherWrapper(self) }
        set {}
    }
}

extension KingfisherCompatibleValue {
    /// Halcyon's members for this value. The setter does nothing; it lets mutating members work.
    public var kf: KingfisherWrapper<Self> {
        get { KingfisherWrapper(self) }
        set {}
    }
}

extension String: KingfisherCompatibleValue {}
