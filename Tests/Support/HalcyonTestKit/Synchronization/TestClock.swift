package import Foundation
import Synchronization

/// A clock that moves when told.
package final class TestClock: Sendable {
    private let time = Mutex(Date(timeIntervalSince1970: 1_700_000_000))

    package init() {}

    package var now: Date { time.withLock { $0 } }

    package func advance(_ seconds: TimeInterval) {
        time.withLock { $0 += seconds }
    }
}
