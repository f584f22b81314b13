import Synchronization

/// Whether anybody still waits for a request of a view. Latches.
final class RequestToken: Sendable {
    private let isCancelled = Atomic(false)

    var isCurrent: Bool { !isCancelled.load(ordering: .acquiring) }

    func cancel() {
        isCancelled.store(true, ordering: .releasing)
    }
}
