import Synchronization

/// Carries a cancellation to work that runs outside of Swift's tasks.
final class CancellationFlag: Sendable {
    private let isCancelled = Atomic(false)

    func cancel() {
        isCancelled.store(true, ordering: .relaxed)
    }

    /// - Throws: `CancellationError` when it was cancelled.
    func check() throws {
        if isCancelled.load(ordering: .relaxed) { throw CancellationError() }
    }
}
