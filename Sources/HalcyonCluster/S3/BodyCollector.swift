import Foundation
import HalcyonHTTP
import Synchronization

/// Takes an answer and its body, up to a limit.
final class BodyCollector: Sendable {
    private let limit: Int
    private let state = Mutex<(head: AnswerHead?, body: Data)>((nil, Data()))
    private let isFull = Atomic(false)

    init(limit: Int) {
        self.limit = limit
    }

    var answer: (AnswerHead, Data)? {
        state.withLock { state in state.head.map { ($0, state.body) } }
    }

    /// Whether there was more than the limit.
    var isTooLarge: Bool { isFull.load(ordering: .acquiring) }

    func begin(_ head: AnswerHead) -> BodyDisposition {
        state.withLock { $0.head = head }
        return .receive
    }

    func take(_ bytes: UnsafeRawBufferPointer) throws(EngineError) {
        let isWithin = state.withLock { state in
            guard state.body.count + bytes.count <= limit else { return false }
            state.body.append(contentsOf: bytes)
            return true
        }
        guard isWithin else {
            isFull.store(true, ordering: .releasing)
            throw EngineError("an object has more than \(limit) bytes")
        }
    }
}
