public import Foundation
public import FoundationNetworking
import HalcyonWork
import Synchronization

/// A running download, shared by all callers with the same request.
///
/// Kingfisher's `task: URLSessionDataTask` has no counterpart: Halcyon does not download through
/// `URLSession`. `currentRequest` and `response` take the place of that object's properties.
public class SessionDataTask: @unchecked Sendable {
    // Unchecked because the class is not final; all state is behind the mutex or constant.

    /// A caller's number within a download, counted from 0.
    public typealias CancelToken = Int

    /// The header of a response, and its arrival time.
    struct Answer: Sendable {
        var head: AnswerHead
        let received: Date
    }

    enum Stage: Sendable {
        /// The request has no response yet.
        case asking
        /// The server requires credentials: the request is sent again, with them.
        case challenged
        /// The bytes received so far are void: the request is sent again, for the complete body.
        case startingOver
        /// The response leads to another request. It is kept if the redirect's target is a separate
        /// request.
        case redirected(to: URLRequest, by: Answer?)
        /// The body is being received. `expected` is the length from the header; `nil` without one,
        /// or for an encoded body.
        case receiving(Answer, expected: Int64?)
        /// The body is complete; unsuccessful responses have no metrics.
        case complete(Answer, NetworkMetrics?)
        /// No caller is left. The response is the one received before, if any.
        case cancelled(Answer?)

        var answer: Answer? {
            switch self {
            case .asking, .challenged, .startingOver: nil
            case .redirected(_, let answer), .cancelled(let answer): answer
            case .receiving(let answer, _), .complete(let answer, _): answer
            }
        }
    }

    struct Listeners: OptionSet, Sendable {
        let rawValue: UInt8

        /// Pictures made from the bytes so far.
        static let pictures = Listeners(rawValue: 1)
        static let progress = Listeners(rawValue: 2)
        static let size = Listeners(rawValue: 4)
    }

    private struct State {
        var request: URLRequest
        /// The `Authorization` and the time of the last request.
        var sent: (credentials: String?, date: Date)?
        var stage = Stage.asking
        var body = Data()
        /// The size of the picture, once it is known from the first bytes.
        var size: PixelSize?
        var listeners: Listeners = []

        /// Moves to the next stage; a cancellation is final.
        mutating func move(to next: Stage) {
            if case .cancelled = stage { return }
            stage = next
        }
    }

    /// The URL of the request, after the request modifier and before redirects.
    public let originalURL: URL?
    /// The HTTP cache's request that this download carries out.
    let hop: DownloadHop?
    /// The priority of the transfer: the highest of its callers.
    let transferPriority = TransferPriority()
    private let state: Mutex<State>
    private let transfer = OneShot<Task<Void, Never>>()
    let callers: @Sendable () -> [DownloadWaiter]
    let cancel: @Sendable (CancelToken) -> Void
    let reprioritize: @Sendable (CancelToken, Float) -> Void

    init(
        request: URLRequest, hop: DownloadHop? = nil,
        callers: @escaping @Sendable () -> [DownloadWaiter] = { [] },
        leave: @escaping @Sendable (CancelToken) -> Void = { _ in },
        reprioritized: @escaping @Sendable (CancelToken, Float) -> Void = { _, _ in }
    ) {
        originalURL = hop?.firstURL ?? request.url
        self.hop = hop
        state = Mutex(State(request: request))
        self.callers = callers
        cancel = leave
        reprioritize = reprioritized
    }

    /// The bytes received so far, copied: the result shares no memory with this task.
    public var mutableData: Data {
        sharedData.withUnsafeBytes { Data($0) }
    }

    /// The current request: the first one, or that of the latest redirect.
    public var currentRequest: URLRequest? { state.withLock { $0.request } }

    /// The response, once there is one; not that of a redirect that is followed.
    public var response: HTTPURLResponse? { try? head?.response }

    /// The current priority: the highest of the callers. See `DownloadTask.priority`.
    public var priority: Float { transferPriority.value }

    /// The metrics, once the download has ended.
    public var metrics: NetworkMetrics? {
        if case .complete(_, let metrics) = stage { metrics } else { nil }
    }
}

extension SessionDataTask: WorkJob {
    /// Cancels the transfer because no caller is left; also before its start.
    package func stop() {
        state.withLock { $0.move(to: .cancelled($0.stage.answer)) }
        transfer.whenGiven { $0.cancel() }
    }

    package func setPriority(_ priority: Float, change: UInt64) {
        transferPriority.set(priority, change: change)
    }

    /// Adds the notifications that another caller wants; returns the picture's size if it is known.
    func add(_ listeners: Listeners) -> PixelSize? {
        state.withLock {
            $0.listeners.formUnion(listeners)
            return $0.size
        }
    }

    func has(_ listeners: Listeners) -> Bool {
        state.withLock { $0.listeners.isSuperset(of: listeners) }
    }

    /// Keeps the size of the picture for callers who join later.
    func setSize(_ size: PixelSize) {
        state.withLock { $0.size = size }
    }
}

extension SessionDataTask {
    /// Starts the transfer, on this thread up to its first wait and then on those of the network,
    /// unless it has been cancelled already.
    func run(_ transfer: @escaping @Sendable () async -> Void) {
        guard !isTransferCancelled else { return }
        self.transfer.give(
            Task.immediate(executorPreference: NetworkExecutor.shared) { await transfer() })
    }

    var isTransferCancelled: Bool {
        if case .cancelled = stage { true } else { false }
    }

    func send(_ request: URLRequest, credentials: String?, at date: Date) {
        state.withLock { state in
            state.request = request
            state.sent = (credentials: credentials, date: date)
            switch state.stage {
            case .challenged, .startingOver, .redirected: state.stage = .asking
            // For a body in parts, the response to the first part stands.
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

    /// Keeps a response whose body continues after `bytes`, by default those already received, and
    /// reserves `capacity` bytes for the whole.
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

    /// Appends a piece of the body unless it would then be longer than `limit`; returns the length of the
    /// body so far, or `nil` when the piece was not appended.
    func append(_ bytes: UnsafeRawBufferPointer, limit: Int?) -> Int? {
        state.withLock { state in
            let (count, overflow) = state.body.count.addingReportingOverflow(bytes.count)
            guard !overflow, count <= limit ?? .max else { return nil }
            state.body.append(contentsOf: bytes)
            return count
        }
    }

    func startOver() {
        state.withLock { state in
            state.move(to: .asking)
            state.size = nil
            state.body = Data()
        }
    }

    /// Ends the transfer. `head` is that of a response assembled from parts.
    func complete(_ head: AnswerHead?, _ metrics: NetworkMetrics?) {
        state.withLock { state in
            guard case .receiving(var answer, _) = state.stage else { return }
            if let head { answer.head = head }
            state.stage = .complete(answer, metrics)
        }
    }
}

extension SessionDataTask {
    var head: AnswerHead? { stage.answer?.head }

    var expectedLength: Int64? {
        if case .receiving(_, let expected) = stage { expected } else { nil }
    }

    /// The response, for the cache; `nil` for a download not started by the cache.
    var answer: DownloadAnswer? {
        guard hop != nil else { return nil }
        return state.withLock { state in
            guard let answer = state.stage.answer, let sent = state.sent else { return nil }
            var redirect: URLRequest?
            if case .redirected(let next, _) = state.stage { redirect = next }
            return DownloadAnswer(
                status: answer.head.status, fields: answer.head.fields,
                requested: sent.date, received: answer.received, redirect: redirect,
                credentials: sent.credentials, body: state.body)
        }
    }

    /// The `Authorization` of the last request, including the answer to a challenge.
    var credentials: String? { state.withLock { $0.sent?.credentials } }

    /// Whether the response is a successful revalidation: the cached response is still fresh.
    func isNotModified(_ status: Int) -> Bool { hop?.isConditional == true && status == 304 }

    /// Whether there is no content, because the response is a redirect or confirms the cached one.
    var hasNoContent: Bool {
        switch stage {
        case .redirected: true
        case let stage: isNotModified(stage.answer?.head.status ?? 0)
        }
    }

    /// The bytes received so far, not copied; later ones do not change the result.
    var sharedData: Data { state.withLock { $0.body } }

    var receivedCount: Int { state.withLock { $0.body.count } }

    /// A copy of those bytes received so far that are in `range`.
    func data(in range: Range<Int>) -> Data {
        // Under the lock: appending to shared bytes would copy all of them.
        state.withLock { $0.body.subdata(in: range.clamped(to: 0..<$0.body.count)) }
    }
}
