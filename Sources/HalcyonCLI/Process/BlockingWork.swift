import Dispatch
import Synchronization
import Vips

/// Where encoding, drawing and writing files happens: never on Swift's cooperative threads.
enum BlockingWork {
    private static let queue = DispatchQueue(label: "halcyon.work", attributes: .concurrent)

    /// Runs `body` on a thread that may wait. How many run at once is the caller's to bound.
    static func run<Value: Sendable>(
        _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            queue.async {
                continuation.resume(with: Result { try body() })
                Vips.endJob()
            }
        }
    }
}

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
