import Foundation

/// Decides which frame of an animation is shown, from the elapsed time and the decoded frames.
///
/// Time advances in steps of at most a second. A frame ends when the accumulated time reaches its
/// duration; the remainder is kept. If several frames are due at once, the last one that is ready
/// is shown; if none is, the current one stays, so that playback never blocks.
struct AnimationClockwork {
    enum Event: Equatable {
        case frame(Int)
        /// The last frame was reached, for the n-th time.
        case loop(UInt)
        /// The animation has stopped, one step after it reached the last frame of its last run.
        case finished
    }

    private enum Phase {
        case playing
        /// The last run is over, but `finished` has not been sent.
        case ended
        case stopped
    }

    /// The maximum time counted for one step, however long the pause before it.
    static let longestStep = Duration.seconds(1)

    let repeatCount: RepeatCount
    private(set) var index = 0
    private(set) var playedLoops: UInt = 0

    /// `nil` for a frame that stays.
    private let durations: [Duration?]
    /// The time since the current frame was due.
    private var gathered = Duration.zero
    private var phase = Phase.playing

    /// - Parameter durations: Seconds, one for each frame.
    init(durations: [TimeInterval], repeatCount: RepeatCount) {
        self.durations = durations.map(Self.interval)
        self.repeatCount = repeatCount
    }

    var frameCount: Int { durations.count }
    var isLastFrame: Bool { index == frameCount - 1 }
    /// Whether the last run is over.
    var isFinished: Bool { phase != .playing }

    /// The time until the next event if all frames are ready; `nil` when there will be none.
    var timeToNextEvent: Duration? {
        guard frameCount > 1, phase != .stopped else { return nil }
        guard let duration = durations[index] else { return phase == .ended ? .zero : nil }
        return max(.zero, duration - gathered)
    }

    /// The index after the current one; after the last comes the first.
    var nextIndex: Int { next(index) }

    /// Begins frame `index`. The number of runs stays.
    mutating func seek(to index: Int) {
        self.index = index
        gathered = .zero
        phase = .playing
    }

    mutating func advance(by step: Duration, isReady: (Int) -> Bool) -> [Event] {
        guard frameCount > 1 else { return [] }
        switch phase {
        case .stopped: return []
        case .ended:
            phase = .stopped
            return [.finished]
        case .playing: break
        }
        gathered += min(max(step, .zero), Self.longestStep)
        guard let move = farthestReadyFrame(isReady) else {
            if let duration = durations[index] {
                gathered = min(gathered, duration + Self.longestStep)
            }
            return []
        }
        return perform(move)
    }

    private struct Move {
        var steps: Int
        var remainder: Duration
    }

    private func farthestReadyFrame(_ isReady: (Int) -> Bool) -> Move? {
        var move = Move(steps: 0, remainder: gathered)
        var best: Move?
        var frame = index
        var loops = playedLoops
        // One round at most: frames may be shorter than any step.
        while move.steps < frameCount, let duration = durations[frame], move.remainder >= duration {
            frame = next(frame)
            move.steps += 1
            move.remainder -= duration
            if isReady(frame) { best = move }
            guard frame == frameCount - 1 else { continue }
            loops += 1
            if isOver(loops) { break }
        }
        if best?.steps == frameCount { best?.remainder = .zero }
        return best
    }

    private mutating func perform(_ move: Move) -> [Event] {
        var events: [Event] = []
        for _ in 0..<move.steps {
            index = next(index)
            guard isLastFrame else { continue }
            playedLoops += 1
            events.append(.loop(playedLoops))
            if isOver(playedLoops) { phase = .ended }
        }
        gathered = phase == .ended ? .zero : move.remainder
        return [.frame(index)] + events
    }

    private func next(_ index: Int) -> Int { (index + 1) % frameCount }

    private func isOver(_ loops: UInt) -> Bool {
        repeatCount.limit.map { loops >= $0 } ?? false
    }

    /// `nil` for durations too long to wait for; 100 ms for a duration of zero.
    private static func interval(_ seconds: TimeInterval) -> Duration? {
        if seconds >= 1e9 { return nil }
        // Whole microseconds, so that sums of decimal fractions of a second are exact.
        return .microseconds(max(1, Int64(((seconds > 0 ? seconds : 0.1) * 1e6).rounded())))
    }
}

/// The number of times an animation runs.
public enum RepeatCount: Hashable, Sendable {
    /// Once: the same as `finite(count: 1)`.
    case once
    /// `count` times; 0 runs once, too.
    case finite(count: UInt)
    /// Until stopped.
    case infinite

    /// The repeat count of an animated file.
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
