/// The limits on what URLs may request.
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
    /// Pixels of each frame of an animation, in place of those of all frames together; `nil`:
    /// ``sourcePixels`` counts.
    public var framePixels: Int?
    public var frames = 60
    /// The limit of the result's longest side; `nil`: none.
    public var resultDimension: Int? = 8192

    /// Whether URLs may raise limits.
    public var allowsSecurityOptions = false
    /// Whether URLs may request the source's unchanged bytes.
    public var allowsRaw = false

    public init() {}
}
