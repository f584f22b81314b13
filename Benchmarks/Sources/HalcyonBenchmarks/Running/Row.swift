/// One line of the result: our figure beside that of one peer.
struct Row: Sendable {
    let name: String
    let unit: Unit
    let clock: Benchmark.Clock
    let ours: Figure
    let peer: Figure
    let peerName: String
    let rounds: Int
    /// The ratio to reach; `nil` when none is set for this peer, or when its result is not good enough.
    let target: Double?
    /// What the results have to be like.
    let qualityClass: QualityClass?

    /// The peer's median divided by ours: above 1 we are better. `nil` when ours is 0.
    var ratio: Double? {
        ours.spread.median > 0 ? peer.spread.median / ours.spread.median : nil
    }

    /// Whether there is a target and the ratio or the quality is less. A figure of 0 reaches every target.
    var isUnderTarget: Bool {
        guard let target, let ratio else { return false }
        return ratio < target || !isGoodEnough
    }

    private var isGoodEnough: Bool {
        guard let qualityClass, let quality = ours.quality else { return true }
        return quality >= qualityClass.ours
    }
}

/// What one contestant gave in all rounds.
struct Figure: Sendable {
    /// In the benchmark's unit.
    let spread: Spread
    /// The median of the CPU time, in the same unit, when elapsed time is what is compared.
    let cpu: Double?
    /// Against the exact reference, by the measure of the row's quality class.
    let quality: Double?
}
