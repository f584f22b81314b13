import HalcyonWork
import Synchronization

/// The share of pictures from a cache in the last minutes.
final class HitRates: Sendable {
    private let window = Mutex(HitWindow())
    private let time: TimeSource
    private let start: ContinuousClock.Instant

    init(_ time: TimeSource) {
        self.time = time
        start = time.now
    }

    func note(isHit: Bool) {
        let second = second
        window.withLock { $0.note(isHit: isHit, second: second) }
    }

    /// Returns the hit rate of the last minutes, 0…1; `nil` without requests for pictures.
    func share(minutes: Int) -> Double? {
        let second = second
        return window.withLock { $0.share(seconds: minutes * 60, before: second) }
    }

    private var second: Int { Int((time.now - start).inSeconds) }
}

/// The hits and all lookups of the last quarter of an hour, counted in steps of ten seconds.
struct HitWindow {
    private struct Step {
        var number = -1
        var hits = 0
        var all = 0
    }

    private static let length = 10
    private var steps = Array(repeating: Step(), count: 91)

    mutating func note(isHit: Bool, second: Int) {
        let number = second / Self.length
        let index = number % steps.count
        if steps[index].number != number { steps[index] = Step(number: number) }
        steps[index].all += 1
        if isHit { steps[index].hits += 1 }
    }

    /// - Parameter seconds: Up to 900; the current step counts in addition.
    func share(seconds: Int, before second: Int) -> Double? {
        let last = second / Self.length
        let counted = steps.filter {
            $0.number >= 0 && (last - seconds / Self.length...last).contains($0.number)
        }
        let all = counted.reduce(0) { $0 + $1.all }
        return all > 0 ? Double(counted.reduce(0) { $0 + $1.hits }) / Double(all) : nil
    }
}
