import HalcyonWork
import Synchronization

/// How long this machine takes to write AVIF, by what it took before, and what can be written in the time that is
/// left: nothing can stop that encoder once it has begun.
struct AVIFPace: Sendable {
    /// Seconds for a million pixels by effort: as measured up to 6, and twice as long for each beyond that.
    private static let costs = [0.13, 0.2, 0.29, 0.6, 1.2, 2.3, 4.4, 8.8, 17.6, 35.2]
    /// What a picture costs however small it is, in millions of pixels.
    private static let least = 0.05
    /// Of the sums below, what is left of earlier pictures after another one.
    private static let memory = 0.875

    /// Seconds that the latest pictures took, and would have taken where the costs were measured. The sums make
    /// large pictures count for more, whose times are more certain.
    private var taken = 1.0
    private var expected = 1.0

    /// About how long a picture takes.
    ///
    /// - Parameter pixels: Those of all frames.
    func duration(pixels: Int, effort: Int) -> Duration {
        .seconds(Self.cost(pixels, effort) * taken / expected)
    }

    /// The most effort, up to `most`, that ends in the time that is left; `nil` when there is too little for any.
    func effort(upTo most: Int, pixels: Int, in left: Duration) -> Int? {
        (0...max(0, most)).last { duration(pixels: pixels, effort: $0) <= left }
    }

    /// Takes note of how long a picture took.
    mutating func note(_ duration: Duration, pixels: Int, effort: Int) {
        taken = taken * Self.memory + duration.inSeconds
        expected = expected * Self.memory + Self.cost(pixels, effort)
    }

    /// Takes note that nothing was tried, so that the pace is not held for slow for ever after a bad moment.
    mutating func noteAvoidance() { taken *= 0.9 }

    private static func cost(_ pixels: Int, _ effort: Int) -> Double {
        costs[min(max(effort, 0), costs.count - 1)] * (Double(pixels) / 1_000_000 + least)
    }
}

/// The pace of a server, for all its pictures.
final class MeasuredAVIFPace: Sendable {
    private let pace = Mutex(AVIFPace())

    /// The effort for a picture that has to be ready in the time that is left, if that has an end; `nil` when there
    /// is too little for any.
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
