/// How well a picture has to be made for its time to count.
struct QualityClass: Sendable {
    /// What tells how close to the exact picture another one is.
    enum Measure: String, Sendable, Encodable {
        /// The peak signal-to-noise ratio of the red, green and blue values, in decibels.
        case signalToNoise
        /// The structural similarity of the grey values, at most 1.
        case similarity
    }

    let measure: Measure
    /// The least that Halcyon must reach: below it the row is under its target however fast it was.
    let ours: Double
    /// The least for a peer to be one that a target counts against.
    let peers: Double

    /// All of what can be seen.
    static let best = QualityClass(measure: .signalToNoise, ours: 51, peers: 51)
    /// The same for sources that are less than three times the size.
    static let good = QualityClass(measure: .signalToNoise, ours: 48, peers: 48)
    static let fast = QualityClass(measure: .signalToNoise, ours: 40, peers: 36)
    /// As much of a progressive file as shows; peers of every quality count.
    static let coarse = QualityClass(measure: .similarity, ours: 0.99, peers: 0)
    /// Printed only.
    static let any = QualityClass(measure: .signalToNoise, ours: 0, peers: 0)

    func text(_ quality: Double) -> String {
        switch measure {
        case .signalToNoise: "\(Row.number(quality)) dB"
        case .similarity: "\(Row.fixed(quality, digits: 4)) SSIM"
        }
    }
}
