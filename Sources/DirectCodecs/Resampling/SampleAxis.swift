/// One axis of a plane that is resampled: how many samples it has, how far the picture reaches along it,
/// and how many samples are made of it.
public struct SampleAxis: Hashable, Sendable {
    /// Samples there are.
    public let sourceCount: Int
    /// The picture's length in source samples. It may end within the last sample, when a plane was
    /// reduced by more than its length can be divided by.
    public let extent: Double
    /// Samples that are made.
    public let targetCount: Int
    /// Whether the samples stand for twice as many, with linear interpolation between them: what all
    /// decoders make of chroma that is stored with half the resolution.
    public let isHalved: Bool

    /// - Parameter extent: The picture's length in source samples; all of them by default.
    public init(sourceCount: Int, extent: Double? = nil, targetCount: Int, isHalved: Bool = false) {
        precondition(sourceCount > 0 && targetCount > 0, "an axis without samples")
        self.sourceCount = sourceCount
        self.extent = extent ?? Double(sourceCount)
        self.targetCount = targetCount
        self.isHalved = isHalved
    }
}
