public import Foundation

/// When the frames of an animated image are shown.
public struct AnimationTiming: Hashable, Sendable {
    /// Seconds that each frame is shown.
    public let durations: [TimeInterval]
    /// The number of times the animation plays; 0 means forever.
    public let loopCount: Int

    public init(durations: [TimeInterval], loopCount: Int) {
        self.durations = durations
        self.loopCount = loopCount
    }

    /// The duration of one run, in seconds.
    public var totalDuration: TimeInterval { durations.reduce(0, +) }

    /// The timing of frames whose durations a file states, in seconds; `nil` for fewer than two.
    init?(stored durations: [TimeInterval], loopCount: Int) {
        guard durations.count > 1 else { return nil }
        self.init(durations: durations.map(Self.clamped), loopCount: loopCount)
    }

    /// The display duration for a stored delay: delays up to 11 ms become 100 ms, as in browsers
    /// and Kingfisher.
    private static func clamped(_ delay: TimeInterval) -> TimeInterval {
        delay <= 0.011 ? 0.1 : delay
    }

    /// This timing scaled so that one run takes `duration` seconds.
    func stretched(to duration: TimeInterval) -> AnimationTiming {
        let factor = totalDuration > 0 ? duration / totalDuration : 1
        return AnimationTiming(durations: durations.map { $0 * factor }, loopCount: loopCount)
    }

    /// The frame duration that a source reports; 100 ms if it is not finite and positive.
    static func known(_ duration: TimeInterval) -> TimeInterval {
        duration.isFinite && duration > 0 ? duration : 0.1
    }
}
