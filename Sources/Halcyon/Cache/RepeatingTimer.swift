import Dispatch
import Foundation

/// Runs a closure again and again on a background queue until it is released.
final class RepeatingTimer: @unchecked Sendable {
    // Unchecked because dispatch sources are not marked Sendable; they are thread-safe, and the
    // source is only ever cancelled after it was set up.

    private let source: any DispatchSourceTimer

    /// Runs `action` after `delay` seconds and then every `interval` seconds; `nil` when one of them
    /// is not a positive number.
    init?(
        after delay: TimeInterval, every interval: TimeInterval,
        action: @escaping @Sendable () -> Void
    ) {
        // Above a century the deadline's nanoseconds would overflow.
        guard delay > 0, interval > 0, delay < 3e9, interval < 3e9 else { return nil }
        source = DispatchSource.makeTimerSource(queue: .global(qos: .utility))
        source.schedule(deadline: .now() + delay, repeating: interval, leeway: .milliseconds(100))
        source.setEventHandler(handler: action)
        source.activate()
    }

    deinit {
        source.cancel()
    }
}
