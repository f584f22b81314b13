import Dispatch
package import Foundation
import Synchronization

/// Runs a closure again and again on a background queue until it is released.
package final class RepeatingTimer: Sendable {
    private let source: Mutex<any DispatchSourceTimer>

    /// Runs `action` after `delay` seconds and then every `interval` seconds; `nil` when one of them
    /// is not a positive number.
    package init?(
        after delay: TimeInterval, every interval: TimeInterval,
        action: @escaping @Sendable () -> Void
    ) {
        // Above a century the deadline's nanoseconds would overflow.
        guard delay > 0, interval > 0, delay < 3e9, interval < 3e9 else { return nil }
        let source = DispatchSource.makeTimerSource(queue: .global(qos: .utility))
        source.schedule(deadline: .now() + delay, repeating: interval, leeway: .milliseconds(100))
        source.setEventHandler(handler: action)
        source.activate()
        self.source = Mutex(source)
    }

    deinit {
        source.withLock { $0.cancel() }
    }
}
