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

    /// The URL of the request, after the request modifier and before redirects.
    public let originalURL: URL?

    private struct State {
        var request: URLRequest
        var head: AnswerHead?
        var metrics: NetworkMetrics?
        var data = Data()
        var transfer: Task<Void, Never>?
        var isCancelled = false
        var hasViewers = false
        var reportsProgress = false
        var wantsSize = false
        var size: PixelSize?
        var requested: Date?
        var received: Date?
        var credentials: String?
        var redirect: URLRequest?
    }

    private let state: Mutex<State>
    private let leave: @Sendable (CancelToken) -> Void
    private let reprioritized: @Sendable (CancelToken, Float) -> Void

    /// How urgent the transfer is: as its most urgent caller.
    let transferPriority = TransferPriority()

    /// What a request by the rules of HTTP caching has asked for.
    let hop: DownloadHop?

    /// `leave` takes a caller out of the download; `reprioritized` is told of callers that have become
    /// more or less urgent.
    init(
        request: URLRequest, hop: DownloadHop? = nil,
        leave: @escaping @Sendable (CancelToken) -> Void = { _ in },
        reprioritized: @escaping @Sendable (CancelToken, Float) -> Void = { _, _ in }
    ) {
        originalURL = hop?.firstURL ?? request.url
        self.hop = hop
        state = Mutex(State(request: request))
        self.leave = leave
        self.reprioritized = reprioritized
    }

    /// The bytes received so far, copied: the result shares no memory with this task.
    public var mutableData: Data {
        sharedData.withUnsafeBytes { Data($0) }
    }

    /// The request being carried out: the first one, or that of the latest redirect.
    public var currentRequest: URLRequest? { state[\.request] }

    /// The answer, once there is one; not that of a redirect which is followed.
    public var response: HTTPURLResponse? { try? head?.response }

    /// How urgent the download is now: as its most urgent caller. See `DownloadTask.priority`.
    public var priority: Float { transferPriority.value }

    /// What was measured, once the download has ended.
    public var metrics: NetworkMetrics? { state[\.metrics] }

    /// Status and header fields of the answer.
    var head: AnswerHead? { state[\.head] }

    /// The answer, for the cache; `nil` of a download that it has not asked for.
    var answer: DownloadAnswer? {
        guard hop != nil else { return nil }
        return state.withLock { state in
            guard let head = state.head, let requested = state.requested,
                let received = state.received
            else { return nil }
            return DownloadAnswer(
                status: head.status,
                fields: HTTPFields(head),
                requested: requested, received: received, redirect: state.redirect,
                credentials: state.credentials, body: state.data)
        }
    }

    /// Whether the answer is one to the cache's own question: what it has is still good.
    func isNotModified(_ status: Int) -> Bool { hop?.isConditional == true && status == 304 }

    /// Whether there is no content, because the answer leads elsewhere or to what the cache has.
    var hasNoContent: Bool {
        state.withLock { $0.redirect != nil || isNotModified($0.head?.status ?? 0) }
    }

    /// Notes when a request is about to be sent.
    func noteSending(at date: Date) {
        state[\.requested] = date
    }

    /// The `Authorization` of the request that was sent last, also when a challenge was answered with it.
    var credentials: String? { state[\.credentials] }

    /// Notes the `Authorization` of a request that is about to be sent.
    func noteCredentials(_ credentials: String?) {
        state[\.credentials] = credentials
    }

    /// Notes when the header of an answer has arrived.
    func noteAnswer(at date: Date) {
        state[\.received] = date
    }

    /// Notes that the answer, `head`, leads to another request.
    func setRedirect(_ request: URLRequest, by head: AnswerHead) {
        state.withLock {
            $0.head = head
            $0.redirect = request
        }
    }

    /// The bytes received so far without copying; later ones do not change the result.
    var sharedData: Data { state[\.data] }

    /// A copy of the bytes received so far, without the first `offset`.
    func data(from offset: Int) -> Data {
        // Under the lock: a piece that is appended to shared bytes would have all of them copied.
        state.withLock { $0.data.subdata(in: min(offset, $0.data.count)..<$0.data.count) }
    }

    /// Whether a caller has joined who is shown a progressive JPEG.
    var hasViewers: Bool { state[\.hasViewers] }

    func addViewer() {
        state[\.hasViewers] = true
    }

    /// Whether a caller has joined who is told of the progress.
    var reportsProgress: Bool { state[\.reportsProgress] }

    func addProgress() {
        state[\.reportsProgress] = true
    }

    /// Whether a caller has joined who is told of the picture's size.
    var wantsSize: Bool { state[\.wantsSize] }

    /// Notes that a caller wants to be told of the picture's size; returns it if it is known.
    func addSizeListener() -> PixelSize? {
        state.withLock {
            $0.wantsSize = true
            return $0.size
        }
    }

    /// Keeps the size of the picture for callers who join later.
    func setSize(_ size: PixelSize) {
        state[\.size] = size
    }

    /// The first bytes received so far, at most `count`, copied.
    func prefix(_ count: Int) -> Data {
        state.withLock { state in
            state.data.subdata(in: 0..<min(count, state.data.count))
        }
    }

    /// Bytes received so far.
    var receivedCount: Int { state[\.data].count }

    /// Takes the caller with `token` out of the download.
    func cancel(_ token: CancelToken) {
        leave(token)
    }

    /// Makes the caller with `token` more or less urgent.
    func reprioritize(_ token: CancelToken, _ priority: Float) {
        reprioritized(token, priority)
    }

    func setCurrentRequest(_ request: URLRequest) {
        state[\.request] = request
    }

    func setMetrics(_ metrics: NetworkMetrics) {
        state[\.metrics] = metrics
    }

    /// Keeps the answer and makes room for `capacity` bytes of its body.
    func setHead(_ head: AnswerHead, reserving capacity: Int) {
        state.withLock {
            $0.head = head
            if capacity > 0 { $0.data.reserveCapacity(capacity) }
        }
    }

    /// Keeps an answer whose body is the rest after these bytes, and makes room for `capacity` bytes of
    /// the whole.
    func setHead(_ head: AnswerHead, after bytes: Data, reserving capacity: Int) {
        state.withLock {
            $0.head = head
            $0.data = bytes
            if capacity > 0 { $0.data.reserveCapacity(capacity) }
        }
    }

    /// Forgets the answer and its body.
    func startOver() {
        state.withLock {
            $0.head = nil
            $0.size = nil
            $0.data = Data()
        }
    }

    /// Appends a piece of the body unless it would then be longer than `limit`.
    ///
    /// - Returns: The length of the body so far; `nil` when the piece was not appended.
    func append(_ bytes: UnsafeRawBufferPointer, limit: Int?) -> Int? {
        state.withLock { state in
            let (count, overflow) = state.data.count.addingReportingOverflow(bytes.count)
            guard !overflow, count <= limit ?? .max else { return nil }
            state.data.append(contentsOf: bytes)
            return count
        }
    }

    /// Starts the transfer, on this thread up to its first wait and then on those of the network,
    /// unless it has been cancelled already.
    func run(_ transfer: @escaping @Sendable () async -> Void) {
        guard !isTransferCancelled else { return }
        let task = Task.immediate(executorPreference: NetworkExecutor.shared) { await transfer() }
        let isLate = state.withLock {
            $0.transfer = task
            return $0.isCancelled
        }
        if isLate { task.cancel() }
    }

    /// Whether the transfer was cancelled, because nobody waits for it any longer.
    var isTransferCancelled: Bool { state[\.isCancelled] }

    /// Cancels the transfer, also when it has not been started yet.
    func cancelTransfer() {
        let transfer = state.withLock {
            $0.isCancelled = true
            return $0.transfer
        }
        transfer?.cancel()
    }
}

extension SessionDataTask: WorkJob {
    package func stop() {
        cancelTransfer()
    }

    package func setPriority(_ priority: Float, change: UInt64) {
        transferPriority.set(priority, change: change)
    }
}
