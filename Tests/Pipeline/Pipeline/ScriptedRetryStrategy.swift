import Foundation
import FoundationNetworking
import HalcyonTestKit

@testable import Halcyon

/// Answers with the given decisions, one after the other, then stops; remembers what it was asked.
final class ScriptedRetryStrategy: RetryStrategy {
    struct Call: Sendable {
        let source: Source
        let errorCode: Int
        let status: Int?
        let retriedCount: Int
        let userInfo: Int?
    }

    let calls = Recorder<Call>()
    private let decisions: Locked<[RetryDecision]>

    init(_ decisions: [RetryDecision]) {
        self.decisions = Locked(decisions)
    }

    func retry(
        context: RetryContext, retryHandler: @escaping @Sendable (RetryDecision) -> Void
    ) {
        calls.record(
            Call(
                source: context.source, errorCode: context.error.errorCode,
                status: context.error.status, retriedCount: context.retriedCount,
                userInfo: context.userInfo as? Int))
        retryHandler(decisions.withLock { $0.isEmpty ? .stop : $0.removeFirst() })
    }
}

extension KingfisherError {
    /// The status that was not accepted.
    fileprivate var status: Int? {
        guard case .responseError(reason: .invalidHTTPStatusCode(let response)) = self else {
            return nil
        }
        return response.statusCode
    }
}

/// Gives its bytes when the gate opens, whether its task is cancelled or not.
struct StubbornProvider: ImageDataProvider {
    let gate: Gate
    let bytes: Data
    var cacheKey = "stubborn"
    var finished = Recorder<Void>()

    func data(handler: @escaping @Sendable (Result<Data, any Error>) -> Void) {
        Task.detached {
            // This task is nobody's to cancel.
            try? await gate.wait()
            handler(.success(bytes))
            finished.record(())
        }
    }
}
