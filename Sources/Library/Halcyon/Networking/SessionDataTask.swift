public import Foundation
public import FoundationNetworking
import HalcyonHTTP
import HalcyonWork
import Synchronization

/// A running download, shared by all callers that asked for the same.
///
/// Kingfisher's `task: URLSessionDataTask` has no counterpart: Halcyon does not download through
/// `URLSession`. `currentRequest` and `response` take the place of that object's properties.
public class SessionDataTask: @unchecked Sendable {
    // Unchecked because the class is not final; all state is behind the mutex or constant.

    /// A caller's number within a download, counted from 0.
    public typealias CancelToken = Int

    /// The header of an answer, and when it had arrived.
    struct Answer: Sendable {
        var head: AnswerHead
        let received: Date
    }

    /// How far the download has come.
    enum Stage: Sendable {
        /// The request has not been answered.
        case asking
        /// The server wants credentials: the request is sent again, with them.
        case challenged
        /// Bytes received so far are void: the request is sent again, for everything.
        case startingOver
        /// The answer leads to another request. It is kept where that is a request of its own.
        case redirected(to: URLRequest, by: Answer?)
        /// The body is being received. `expected` is the length the header says; `nil` when it says none, or
        /// that of an encoded body.
        case receiving(Answer, expected: Int64?)
        /// The body is whole; there are no metrics of an answer that is no success.
        case complete(Answer, NetworkMetrics?)
        /// Nobody waits any longer. The answer is the one that had come.
        case cancelled(Answer?)

        /// The answer, once there is one that counts.
        var answer: Answer? {
            switch self {
            case .asking, .challenged, .startingOver: nil
            case .redirected(_, let answer), .cancelled(let answer): answer
            case .receiving(let answer, _), .complete(let answer, _): answer
            }
        }
    }

    /// What callers are told of while the download is under way.
    struct Listeners: OptionSet, Sendable {
        let rawValue: UInt8

        /// The pictures that the bytes so far show.
        static let pictures = Listeners(rawValue: 1)
        static let progress = Listeners(rawValue: 2)
        static let size = Listeners(rawValue: 4)
    }

    private struct State {
        var request: URLRequest
        /// When the last request was sent, and its `Authorization`.
        var sent: (credentials: String?, date: Date)?
        var stage = Stage.asking
        var body = Data()
        /// The picture's, once its first bytes have told it.
        var size: PixelSize?
        var listeners: Listeners = []

        /// Nothing follows a cancellation.
        mutating func move(to next: Stage) {
            if case .cancelled = stage { return }
            stage = next
        }
    }

    /// The URL of the request, after the request modifier and before redirects.
    public let originalURL: URL?
    /// What a request by the rules of HTTP caching has asked for.
    let hop: DownloadHop?
    /// How urgent the transfer is: as its most urgent caller.
    let transferPriority = TransferPriority()
    private let state: Mutex<State>
    private let transfer = OneShot<Task<Void, Never>>()
    /// Takes a caller out of the download.
    let cancel: @Sendable (CancelToken) -> Void
    /// Makes a caller more or less urgent.
    let reprioritize: @Sendable (CancelToken, Float) -> Void

    init(
        request: URLRequest, hop: DownloadHop? = nil,
        leave: @escaping @Sendable (CancelToken) -> Void = { _ in },
        reprioritized: @escaping @Sendable (CancelToken, Float) -> Void = { _, _ in }
    ) {
        originalURL = hop?.firstURL ?? request.url
        self.hop = hop
        state = Mutex(State(request: request))
        cancel = leave
        reprioritize = reprioritized
    }

    /// The bytes received so far, copied: the result shares no memory with this task.
    public var mutableData: Data {
        sharedData.withUnsafeBytes { Data($0) }
    }

    /// The request being carried out: the first one, or that of the latest redirect.
    public var currentRequest: URLRequest? { state.withLock { $0.request } }

    /// The answer, once there is one; not that of a redirect which is followed.
    public var response: HTTPURLResponse? { try? head?.response }

    /// How urgent the download is now: as its most urgent caller. See `DownloadTask.priority`.
    public var priority: Float { transferPriority.value }

    /// What was measured, once the download has ended.
    public var metrics: NetworkMetrics? {
        if case .complete(_, let metrics) = stage { metrics } else { nil }
    }
}

// MARK: Callers

extension SessionDataTask: WorkJob {
    /// Cancels the transfer, because nobody waits for it any longer; also when it has not been started yet.
    package func stop() {
        state.withLock { $0.move(to: .cancelled($0.stage.answer)) }
        transfer.whenGiven { $0.cancel() }
    }

    package func setPriority(_ priority: Float, change: UInt64) {
        transferPriority.set(priority, change: change)
    }

    /// Notes what another caller wants to be told of; returns the picture's size if it is known.
    func add(_ listeners: Listeners) -> PixelSize? {
        state.withLock {
            $0.listeners.formUnion(listeners)
            return $0.size
        }
    }

    /// Whether a caller has joined who is told of this.
    func has(_ listeners: Listeners) -> Bool {
        state.withLock { $0.listeners.isSuperset(of: listeners) }
    }

    /// Keeps the size of the picture for callers who join later.
    func setSize(_ size: PixelSize) {
        state.withLock { $0.size = size }
    }
}

// MARK: The transfer

extension SessionDataTask {
    /// Starts the transfer, on this thread up to its first wait and then on those of the network,
    /// unless it has been cancelled already.
    func run(_ transfer: @escaping @Sendable () async -> Void) {
        guard !isTransferCancelled else { return }
        self.transfer.give(
            Task.immediate(executorPreference: NetworkExecutor.shared) { await transfer() })
    }

    /// Whether the transfer was cancelled.
    var isTransferCancelled: Bool {
        if case .cancelled = stage { true } else { false }
    }

    /// Notes the request that is about to be sent, and its `Authorization`.
    func send(_ request: URLRequest, credentials: String?, at date: Date) {
        state.withLock { state in
            state.request = request
            state.sent = (credentials: credentials, date: date)
            switch state.stage {
            case .challenged, .startingOver, .redirected: state.stage = .asking
            // Of a body that comes in parts, the answer to the first one stands.
            case .asking, .receiving, .complete, .cancelled: break
            }
        }
    }

    func setCurrentRequest(_ request: URLRequest) {
        state.withLock { $0.request = request }
    }

    var stage: Stage { state.withLock { $0.stage } }

    /// Moves on to `stage`, unless the download has been cancelled.
    func move(to stage: Stage) {
        state.withLock { $0.move(to: stage) }
    }

    /// Keeps an answer whose body goes on after `bytes`, by default those that are there, and makes room for
    /// `capacity` bytes of the whole.
    func receive(
        _ answer: Answer, after bytes: Data? = nil, expecting expected: Int64? = nil,
        reserving capacity: Int = 0
    ) {
        state.withLock { state in
            state.move(to: .receiving(answer, expected: expected))
            if let bytes { state.body = bytes }
            if capacity > 0 { state.body.reserveCapacity(capacity) }
        }
    }

    /// Appends a piece of the body unless it would then be longer than `limit`.
    ///
    /// - Returns: The length of the body so far; `nil` when the piece was not appended.
    func append(_ bytes: UnsafeRawBufferPointer, limit: Int?) -> Int? {
        state.withLock { state in
            let (count, overflow) = state.body.count.addingReportingOverflow(bytes.count)
            guard !overflow, count <= limit ?? .max else { return nil }
            state.body.append(contentsOf: bytes)
            return count
        }
    }

    /// Forgets the answer and its body.
    func startOver() {
        state.withLock { state in
            state.move(to: .asking)
            state.size = nil
            state.body = Data()
        }
    }

    /// Ends the transfer. `head` is that of an answer that was put together of parts.
    func complete(_ head: AnswerHead?, _ metrics: NetworkMetrics?) {
        state.withLock { state in
            guard case .receiving(var answer, _) = state.stage else { return }
            if let head { answer.head = head }
            state.stage = .complete(answer, metrics)
        }
    }
}

// MARK: The answer

extension SessionDataTask {
    /// Status and header fields of the answer.
    var head: AnswerHead? { stage.answer?.head }

    /// The length of the body that is being received, if it is known.
    var expectedLength: Int64? {
        if case .receiving(_, let expected) = stage { expected } else { nil }
    }

    /// The answer, for the cache; `nil` of a download that it has not asked for.
    var answer: DownloadAnswer? {
        guard hop != nil else { return nil }
        return state.withLock { state in
            guard let answer = state.stage.answer, let sent = state.sent else { return nil }
            var redirect: URLRequest?
            if case .redirected(let next, _) = state.stage { redirect = next }
            return DownloadAnswer(
                status: answer.head.status, fields: HTTPFields(answer.head),
                requested: sent.date, received: answer.received, redirect: redirect,
                credentials: sent.credentials, body: state.body)
        }
    }

    /// The `Authorization` of the request that was sent last, also when a challenge was answered with it.
    var credentials: String? { state.withLock { $0.sent?.credentials } }

    /// Whether the answer is one to the cache's own question: what it has is still good.
    func isNotModified(_ status: Int) -> Bool { hop?.isConditional == true && status == 304 }

    /// Whether there is no content, because the answer leads elsewhere or to what the cache has.
    var hasNoContent: Bool {
        switch stage {
        case .redirected: true
        case let stage: isNotModified(stage.answer?.head.status ?? 0)
        }
    }

    /// The bytes received so far without copying; later ones do not change the result.
    var sharedData: Data { state.withLock { $0.body } }

    /// Bytes received so far.
    var receivedCount: Int { state.withLock { $0.body.count } }

    /// The first bytes received so far, at most `count`, copied.
    func prefix(_ count: Int) -> Data {
        state.withLock { $0.body.subdata(in: 0..<min(count, $0.body.count)) }
    }

    /// A copy of the bytes received so far, without the first `offset`.
    func data(from offset: Int) -> Data {
        // Under the lock: a piece that is appended to shared bytes would have all of them copied.
        state.withLock { $0.body.subdata(in: min(offset, $0.body.count)..<$0.body.count) }
    }
}
