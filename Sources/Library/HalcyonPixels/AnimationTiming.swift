public import Foundation

/// When the frames of an animated image are shown.
public struct AnimationTiming: Hashable, Sendable {
    /// Seconds that each frame is shown.
    public let durations: [TimeInterval]
    /// How often the animation runs; 0 means forever.
    public let loopCount: Int

    public init(durations: [TimeInterval], loopCount: Int) {
        self.durations = durations
        self.loopCount = loopCount
    }

    /// Seconds that one run takes.
    public var totalDuration: TimeInterval { durations.reduce(0, +) }

    /// The time a frame with the stored delay is shown: no delay, and anything up to 11 ms, becomes
    /// 100 ms, as browsers and Kingfisher do.
    static func clamped(_ delay: TimeInterval) -> TimeInterval {
        delay <= 0.011 ? 0.1 : delay
    }

    /// The same rhythm with one run taking `duration` seconds.
    func stretched(to duration: TimeInterval) -> AnimationTiming {
        let factor = totalDuration > 0 ? duration / totalDuration : 1
        return AnimationTiming(durations: durations.map { $0 * factor }, loopCount: loopCount)
    }

    /// The duration of a frame that a source tells; 100 ms if it is none that can be waited for.
    static func known(_ duration: TimeInterval) -> TimeInterval {
        duration.isFinite && duration > 0 ? duration : 0.1
    }
}
