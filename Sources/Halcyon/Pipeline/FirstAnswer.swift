import Synchronization

/// Resumes a continuation with the first of several answers.
final class FirstAnswer<Answer: Sendable>: Sendable {
    private let continuation: Mutex<CheckedContinuation<Answer, Never>?>

    init(_ continuation: CheckedContinuation<Answer, Never>) {
        self.continuation = Mutex(continuation)
    }

    /// Resumes it, unless that has been done.
    func give(_ answer: Answer) {
        let waiting = continuation.withLock { continuation in
            defer { continuation = nil }
            return continuation
        }
        waiting?.resume(returning: answer)
    }
}
