import HalcyonServerURLs
import Synchronization

/// The current rules for fetching URLs.
final class SourceRules: Sendable {
    private let present: Mutex<SourcePolicy>

    init(_ policy: SourcePolicy) { present = Mutex(policy) }

    var policy: SourcePolicy { present.withLock { $0 } }

    func take(_ policy: SourcePolicy) { present.withLock { $0 = policy } }
}
