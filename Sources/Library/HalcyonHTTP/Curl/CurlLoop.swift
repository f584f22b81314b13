import CHTTP
import Dispatch
import Foundation
import Synchronization

/// A thread of the network with its connections: one multi handle of libcurl.
///
/// Tasks that prefer it go on here, so that no other thread has to be woken for a few steps between
/// two requests. Nothing on this thread may wait.
///
/// Not a `WorkTable`: each transfer here is one caller's, downloads are shared above.
final class CurlLoop: TaskExecutor, @unchecked Sendable {
    // Unchecked: what is not behind the mutex is used on the loop's thread alone, once that runs.

    private static let spareHandleLimit = 16

    private struct Inbox {
        var work: [@Sendable () -> Void] = []
        /// Whether the loop has been woken for it.
        var isNoticed = false
    }

    private let multi: UnsafeMutableRawPointer
    private let inbox = Mutex(Inbox())
    private var local: [@Sendable () -> Void] = []
    private var isStopping = false
    private var spareHandles: [EasyHandle] = []
    private var exchanges: [ObjectIdentifier: Exchange] = [:]
    /// Not later than the earliest moment at which an exchange has to be looked at.
    private var nextCheck: ContinuousClock.Instant?

    /// - Parameter connectionsPerHost: More are never opened to one host.
    /// - Throws: `POSIXError` when there is no descriptor to wake the thread by, or no memory.
    init(connectionsPerHost: Int) throws(POSIXError) {
        Self.prepareLibrary
        errno = 0
        guard let multi = curl_multi_init() else { throw Self.noDescriptor }
        let failure = Self.noDescriptor
        // Without descriptors libcurl makes a handle that can never be woken: the thread would sleep through all
        // requests, also when there are descriptors again. Nothing waits yet, so this wakes nobody.
        guard curl_multi_wakeup(multi) == CURLM_OK else {
            curl_multi_cleanup(multi)
            throw failure
        }
        self.multi = multi
        ccurl_multi_set_long(multi, CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
        ccurl_multi_set_long(multi, CURLMOPT_MAX_HOST_CONNECTIONS, connectionsPerHost)
        // By default idle connections are closed when few transfers run.
        ccurl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, 100)
        let thread = Thread { self.run() }
        thread.stackSize = 1 << 20
        thread.start()
    }

    deinit {
        curl_multi_cleanup(multi)
    }

    /// The error of a system call that has just failed because there is too little of something.
    private static var noDescriptor: POSIXError {
        let codes: [POSIXErrorCode] = [.EMFILE, .ENFILE, .ENOMEM, .ENOBUFS]
        return POSIXError(codes.first { $0.rawValue == errno } ?? .EMFILE)
    }

    private static let prepareLibrary: Void = { _ = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) }()

    // MARK: - From any thread

    /// Runs `work` on the loop's thread: on that thread itself, some time after this returns.
    func perform(_ work: @escaping @Sendable () -> Void) {
        if Self.current === self { return local.append(work) }
        let mustWake = inbox.withLock { inbox in
            inbox.work.append(work)
            defer { inbox.isNoticed = true }
            return !inbox.isNoticed
        }
        if mustWake { curl_multi_wakeup(multi) }
    }

    /// Runs `work` on the loop's thread: on that thread itself, at once.
    func now(_ work: @escaping @Sendable () -> Void) {
        if Self.current === self { work() } else { perform(work) }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        perform { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }

    /// Ends the thread; what is under way is given up.
    func stop() {
        perform { self.isStopping = true }
    }

    /// The loop of the thread that asks, if it is one's.
    static var current: CurlLoop? {
        pthread_getspecific(currentKey).map { Unmanaged.fromOpaque($0).takeUnretainedValue() }
    }

    private static let currentKey: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    // MARK: - On the loop's thread

    private func run() {
        Thread.current.name = "halcyon-http"
        pthread_setspecific(Self.currentKey, Unmanaged.passUnretained(self).toOpaque())
        while true {
            runWork()
            if isStopping { break }
            var running: Int32 = 0
            curl_multi_perform(multi, &running)
            endTransfers()
            checkTimes()
            if local.isEmpty { wait() }
        }
        for exchange in exchanges.values { exchange.cancel() }
        runWork()
        for handle in spareHandles { handle.free() }
        spareHandles = []
        pthread_setspecific(Self.currentKey, nil)
    }

    private func runWork() {
        while true {
            let work = inbox.withLock { inbox in
                inbox.isNoticed = false
                return take(&inbox.work)
            }
            guard !work.isEmpty || !local.isEmpty else { return }
            for body in work { body() }
            for body in take(&local) { body() }
        }
    }

    private func take(_ work: inout [@Sendable () -> Void]) -> [@Sendable () -> Void] {
        defer { work = [] }
        return work
    }

    private func endTransfers() {
        var rest: Int32 = 0
        while let message = curl_multi_info_read(multi, &rest) {
            guard message.pointee.msg == CURLMSG_DONE, let handle = message.pointee.easy_handle,
                let exchange = ccurl_get_pointer(handle, CURLINFO_PRIVATE)
            else { continue }
            Unmanaged<Exchange>.fromOpaque(exchange).takeUnretainedValue()
                .transferEnded(message.pointee.data.result)
        }
    }

    private func wait() {
        var milliseconds: Int32 = 60_000
        if let nextCheck {
            let rest = (nextCheck - ContinuousClock().now) / .milliseconds(1)
            milliseconds = Int32(max(0, min(rest.rounded(.up), 60_000)))
        }
        curl_multi_poll(multi, nil, 0, milliseconds, nil)
    }

    private func checkTimes() {
        guard let earliest = nextCheck else { return }
        let now = ContinuousClock().now
        guard earliest <= now else { return }
        nextCheck = nil
        for exchange in Array(exchanges.values) { exchange.check(now: now) }
    }

    /// Has `Exchange.check` called at `instant`, or somewhat before.
    func check(at instant: ContinuousClock.Instant) {
        nextCheck = nextCheck.map { min($0, instant) } ?? instant
    }

    /// A handle without options.
    func takeHandle() -> EasyHandle? {
        let handle = spareHandles.popLast() ?? EasyHandle()
        handle?.reset()
        return handle
    }

    /// Begins the transfer of `exchange`, which is kept until `remove`.
    func add(_ handle: EasyHandle, of exchange: Exchange) {
        exchanges[ObjectIdentifier(exchange)] = exchange
        handle.set(CURLOPT_PRIVATE, Unmanaged.passUnretained(exchange).toOpaque())
        curl_multi_add_handle(multi, handle.pointer)
    }

    /// Ends the transfer of `exchange`, wherever it is; never within a callback of libcurl.
    func remove(_ handle: EasyHandle, of exchange: Exchange) {
        curl_multi_remove_handle(multi, handle.pointer)
        exchanges[ObjectIdentifier(exchange)] = nil
        if spareHandles.count < Self.spareHandleLimit {
            spareHandles.append(handle)
        } else {
            handle.free()
        }
    }
}

/// Goes on with a transfer on the thread of the network that brought what the transfer waited for, and
/// elsewhere on one of Dispatch's.
package final class NetworkExecutor: TaskExecutor {
    package static let shared = NetworkExecutor()

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if let loop = CurlLoop.current {
            loop.perform { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        } else {
            DispatchQueue.global().async {
                job.runSynchronously(on: self.asUnownedTaskExecutor())
            }
        }
    }
}
