/// What URLs may ask for at most.
public struct PlanLimits: Sendable, Hashable {
    /// Options in one URL.
    public var options = 40
    public var dpr = 8.0
    /// The sigma of blur.
    public var blur = 100.0
    /// Bytes of a source.
    public var sourceBytes = 20 << 20
    /// Pixels of a source, all frames together.
    public var sourcePixels = 50_000_000
    /// Pixels of each frame of an animation, in place of those of all frames together; `nil`: these
    /// count.
    public var framePixels: Int?
    public var frames = 60
    /// The longest side of a result; `nil`: any.
    public var resultDimension: Int? = 8192

    /// Whether URLs may raise limits, too.
    public var allowsSecurityOptions = false
    /// Whether URLs may ask for the source's bytes as they are.
    public var allowsRaw = false

    public init() {}
}
