import HalcyonWork
import Synchronization

/// The speed of this machine at writing AVIF, estimated from earlier pictures, and the effort that
/// is possible in the remaining time: nothing can stop that encoder once it has begun.
struct AVIFPace: Sendable {
    /// Seconds for a million pixels by effort: measured up to 6, and doubled for each beyond that.
    private static let costs = [0.13, 0.2, 0.29, 0.6, 1.2, 2.3, 4.4, 8.8, 17.6, 35.2]
    /// The fixed cost of a picture, in millions of pixels.
    private static let least = 0.05
    /// The weight that earlier pictures keep in the sums below after another one.
    private static let memory = 0.875

    /// Seconds that the latest pictures took, and would have taken where the costs were measured.
    /// In the sums, large pictures count for more, since their times are more certain.
    private var taken = 1.0
    private var expected = 1.0

    /// Returns the estimated time for a picture with these pixels in all frames together.
    func duration(pixels: Int, effort: Int) -> Duration {
        .seconds(Self.cost(pixels, effort) * taken / expected)
    }

    /// Returns the highest effort up to `most` that ends in the time left; `nil` if none does.
    func effort(upTo most: Int, pixels: Int, in left: Duration) -> Int? {
        (0...max(0, most)).last { duration(pixels: pixels, effort: $0) <= left }
    }

    mutating func note(_ duration: Duration, pixels: Int, effort: Int) {
        taken = taken * Self.memory + duration.inSeconds
        expected = expected * Self.memory + Self.cost(pixels, effort)
    }

    /// Notes that nothing was tried, so that the pace does not stay slow after a bad moment.
    mutating func noteAvoidance() { taken *= 0.9 }

    private static func cost(_ pixels: Int, _ effort: Int) -> Double {
        costs[min(max(effort, 0), costs.count - 1)] * (Double(pixels) / 1_000_000 + least)
    }
}

/// The pace of a server, for all its pictures.
final class MeasuredAVIFPace: Sendable {
    private let pace = Mutex(AVIFPace())

    /// Returns the effort for a picture that must be ready in the time left, if that is limited;
    /// `nil` if there is too little for any.
    func effort(upTo most: Int, pixels: Int, in left: Duration?) -> Int? {
        guard let left else { return most }
        return pace.withLock { pace in
            let effort = pace.effort(upTo: most, pixels: pixels, in: left)
            if effort == nil { pace.noteAvoidance() }
            return effort
        }
    }

    func note(_ duration: Duration, pixels: Int, effort: Int) {
        pace.withLock { $0.note(duration, pixels: pixels, effort: effort) }
    }
}
