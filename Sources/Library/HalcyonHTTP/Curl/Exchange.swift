import CHTTP
import Foundation

final class Exchange: @unchecked Sendable {
    // Unchecked: mutable state is used on the loop's thread alone.

    typealias Continuation = CheckedContinuation<ExchangeTimes?, any Error>

    private enum Decision {
        /// There is no header yet.
        case none
        /// `onResponse` is still deciding; then the first piece of the body waits in libcurl.
        case pending(isPaused: Bool)
        case receive
        case discard
    }

    /// The longest rest of an unwanted body, in bytes, that is read to keep the connection.
    private static let longestDiscardedRest = 64 * 1024
    /// The time limit for reading that rest.
    private static let longestDiscarding = Duration.seconds(2)

    let request: OutgoingRequest
    let configuration: CurlTransport.Configuration
    let loop: CurlLoop
    private let terms: ExchangeTerms
    private let onHTTP2: @Sendable () -> Void
    private let onResponse: @Sendable (AnswerHead) async throws -> BodyDisposition
    private let onBody: @Sendable (UnsafeRawBufferPointer) throws -> Void
    private let onEnd: @Sendable () -> Void

    private var continuation: Continuation?
    private var isCancelled = false
    private(set) var handle: EasyHandle?
    private var fields: UnsafeMutablePointer<curl_slist>?
    private(set) var header: HeaderReader
    /// Decodes the body; `nil` when it has no content coding.
    private(set) var decoder: ContentDecoder?
    private var decision = Decision.none
    /// The result of a transfer that libcurl ended while `onResponse` was still deciding.
    private var ending: CURLcode?
    private var failure: (any Error)?
    private(set) var times: ExchangeTimes?
    private var watch: StallWatch?
    private(set) var received: Int64 = 0
    /// Bytes of the body, as announced by the header.
    private(set) var expected: Int64?
    /// The refusal of an address; another one may have been connected to.
    private var refusedAddress: TransportError?
    private var isSecondTry = false
    private var isEnded = false

    init(
        _ request: OutgoingRequest, on loop: CurlLoop, configuration: CurlTransport.Configuration,
        terms: ExchangeTerms, onHTTP2: @escaping @Sendable () -> Void,
        onResponse: @escaping @Sendable (AnswerHead) async throws -> BodyDisposition,
        onBody: @escaping @Sendable (UnsafeRawBufferPointer) throws -> Void,
        onEnd: @escaping @Sendable () -> Void
    ) {
        self.request = request
        header = HeaderReader(method: request.method)
        self.loop = loop
        self.configuration = configuration
        self.terms = terms
        self.onHTTP2 = onHTTP2
        self.onResponse = onResponse
        self.onBody = onBody
        self.onEnd = onEnd
    }

    var url: String { request.url.absoluteString }

    // MARK: - From the loop

    /// Sends the request, unless that has been cancelled; `continuation` is resumed exactly once, and
    /// `onEnd` called when the connection is free again.
    func start(_ continuation: Continuation) {
        self.continuation = continuation
        times = ExchangeTimes(start: ContinuousClock().now)
        if isCancelled { return end(.failure(CancellationError())) }
        if let deadline = terms.deadline { loop.check(at: deadline) }
        send()
    }

    private func send() {
        guard let handle = loop.takeHandle() else {
            return end(
                .failure(TransportError.other(url: url, reason: "there is no memory for it")))
        }
        self.handle = handle
        fields = request.apply(to: handle)
        configuration.apply(to: handle, trustsAnyCertificate: terms.trustsAnyCertificate)
        // A request that is not idempotent is not sent on a connection that may turn out dead.
        handle.set(CURLOPT_FRESH_CONNECT, isSecondTry || !request.isIdempotent)
        // Without TLS a host is known not to multiplex requests.
        handle.set(CURLOPT_PIPEWAIT, request.url.scheme?.lowercased() == "https")
        setCallbacks(of: handle)
        loop.add(handle, of: self)
    }

    func cancel() {
        isCancelled = true
        guard handle != nil else { return }
        end(.failure(CancellationError()))
    }

    /// Ends the exchange if its deadline has passed, and schedules the next check.
    func check(now: ContinuousClock.Instant) {
        guard handle != nil else { return }
        if let deadline = terms.deadline {
            if deadline <= now { return end(.failure(TransportError.timedOut(.total, url: url))) }
            loop.check(at: deadline)
        }
        guard let watch else { return }
        guard let rest = watch.remaining(now: now) else {
            return end(.failure(TransportError.timedOut(.stall, url: url)))
        }
        loop.check(at: now + rest)
    }

    func transferEnded(_ code: CURLcode) {
        if case .pending = decision, code == CURLE_OK {
            ending = code
            return
        }
        if shouldTryAgain(code) { return tryAgain() }
        end(result(code))
    }

    // MARK: - From libcurl; the transfer must not be removed here

    /// Called before connecting to an address of the host; returns whether the address is allowed.
    func mayConnect(to address: IPAddress?) -> Bool {
        guard let refusal = configuration.refusal(of: address, host: request.host) else {
            return true
        }
        refusedAddress = refusal
        return false
    }

    /// Called when a connection is established, before the request is sent on it.
    /// - Returns: Whether the request may be sent.
    func requestLeaves(to peer: ConnectionEnds) -> Bool {
        guard let handle else { return false }
        let isReused = handle.long(CURLINFO_NUM_CONNECTS) == 0
        do {
            try configuration.check(
                peer, host: request.host, of: handle, isReused: isReused,
                isSecure: request.url.scheme?.lowercased() == "https")
        } catch {
            failure = error
            // No other request may use the connection either.
            handle.set(CURLOPT_FORBID_REUSE, true)
            return false
        }
        let now = ContinuousClock().now
        times?.isConnectionReused = isReused
        times?.connecting = isReused ? nil : handle.connecting
        times?.sent = now
        watch = StallWatch(timeout: terms.stall, now: now)
        loop.check(at: now + terms.stall)
        return true
    }

    /// Called with a line of the header; returns whether to go on.
    func headerArrived(_ line: UnsafeRawBufferPointer) -> Bool {
        do {
            guard let answer = try header.take(line, of: request.url) else { return true }
            answered(answer)
            return true
        } catch {
            failure = error
            return false
        }
    }

    private func answered(_ answer: AnswerHead) {
        if answer.version.hasPrefix("HTTP/2") { onHTTP2() }
        times?.answered = ContinuousClock().now
        watch?.pause()
        expected = answer.contentLength
        let codings = answer.codings.known
        if !codings.isEmpty {
            do {
                decoder = try ContentDecoder(
                    codings, limit: configuration.client.maximumResponseSize)
            } catch {
                return decided(.failure(unpacking(error)))
            }
        }
        decision = .pending(isPaused: false)
        // Usually the decision does not suspend; then the body is taken as soon as it comes.
        Task.immediate(executorPreference: loop) { [onResponse] in
            do {
                let disposition = try await onResponse(answer)
                loop.now { self.decided(.success(disposition)) }
            } catch {
                loop.now { self.decided(.failure(error)) }
            }
        }
    }

    /// Called with a piece of the body.
    /// - Returns: The count to go on, `CURL_WRITEFUNC_PAUSE` to be offered the piece again later, and
    ///   anything else to stop.
    func bodyArrived(_ bytes: UnsafeRawBufferPointer) -> Int {
        let stop = bytes.isEmpty ? 1 : 0
        switch decision {
        case .none:
            return stop
        case .pending:
            decision = .pending(isPaused: true)
            return Int(CURL_WRITEFUNC_PAUSE)
        case .discard:
            received += Int64(bytes.count)
            return received > Self.longestDiscardedRest ? stop : bytes.count
        case .receive:
            received += Int64(bytes.count)
            watch?.receive(bytes.count, now: ContinuousClock().now)
            do {
                if let decoder {
                    try decoder.decode(bytes, onBody)
                } else {
                    try onBody(bytes)
                }
                return bytes.count
            } catch {
                failure = unpacking(error)
                return stop
            }
        }
    }

    /// The `TransportError` of a decoder's error; other errors are returned unchanged.
    private func unpacking(_ error: any Error) -> any Error {
        guard let failure = error as? ContentDecoder.Failure else { return error }
        return switch failure {
        case .damaged:
            TransportError.undecodableBody(
                url: url, reason: "it is not what its content encoding says")
        case .cutShort:
            TransportError.incompleteBody(url: url, received: nil, expected: nil)
        case .tooLarge:
            TransportError.responseTooLarge(
                url: url, limit: configuration.client.maximumResponseSize ?? .max)
        case .tooManyCodings:
            TransportError.undecodableBody(
                url: url, reason: "it is encoded more than \(ContentDecoder.codingLimit) times")
        case .noMemory:
            TransportError.undecodableBody(url: url, reason: "there is no memory for it")
        }
    }

    // MARK: - Ends

    private func decided(_ result: Result<BodyDisposition, any Error>) {
        // Cancelled or timed out meanwhile.
        guard handle != nil else { return }
        let isPaused = if case .pending(isPaused: true) = decision { true } else { false }
        switch result {
        case .success(.receive):
            decision = .receive
            watch?.resume(now: ContinuousClock().now)
        case .success(.discard):
            resume(.success(times))
            discard()
        case .failure(let error):
            resume(.failure(error))
            discard()
        }
        // Not at once: this may be within a callback of libcurl.
        loop.perform { [self] in
            guard let handle else { return }
            if isPaused { curl_easy_pause(handle.pointer, CURLPAUSE_CONT) }
            if let ending { transferEnded(ending) }
        }
    }

    /// Discards a short rest of the body, so that the connection can be reused.
    private func discard() {
        decision = .discard
        received = 0
        let now = ContinuousClock().now
        watch = StallWatch(timeout: min(terms.stall, Self.longestDiscarding), now: now)
        loop.check(at: now + Self.longestDiscarding)
        guard expected ?? 0 > Self.longestDiscardedRest else { return }
        loop.perform { self.end(.failure(CancellationError())) }
    }

    /// Whether the connection was dead already when the request was sent on it.
    private func shouldTryAgain(_ code: CURLcode) -> Bool {
        let breaks = [CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_HTTP2]
        return breaks.contains(code) && times?.isConnectionReused == true && header.isEmpty
            && request.isIdempotent && !isSecondTry && failure == nil
    }

    /// Sends the request once more, on a new connection.
    private func tryAgain() {
        isSecondTry = true
        watch = nil
        removeHandle()
        send()
    }

    private func result(_ code: CURLcode) -> Result<ExchangeTimes?, any Error> {
        if let failure { return .failure(failure) }
        if code == CURLE_COULDNT_CONNECT, let refusedAddress { return .failure(refusedAddress) }
        guard code == CURLE_OK else { return .failure(error(of: code)) }
        guard header.isComplete else {
            // An answer of status 1xx is followed by another one.
            return .failure(
                TransportError.invalidResponse(url: url, reason: "there is no final answer"))
        }
        if let expected, received < expected {
            return .failure(
                TransportError.incompleteBody(url: url, received: received, expected: expected))
        }
        do {
            if case .receive = decision { try decoder?.finish() }
        } catch {
            return .failure(unpacking(error))
        }
        return .success(times)
    }

    private func end(_ result: Result<ExchangeTimes?, any Error>) {
        guard !isEnded else { return }
        isEnded = true
        removeHandle()
        resume(result)
        onEnd()
    }

    private func removeHandle() {
        guard let handle else { return }
        self.handle = nil
        loop.remove(handle, of: self)
        curl_slist_free_all(fields)
        fields = nil
    }

    /// Resumes the caller, once; later ends change nothing.
    private func resume(_ result: Result<ExchangeTimes?, any Error>) {
        continuation?.resume(with: result)
        continuation = nil
    }
}

extension EasyHandle {
    fileprivate var connecting: ExchangeTimes.Connecting {
        let (name, tcp, tls) = (
            time(CURLINFO_NAMELOOKUP_TIME_T), time(CURLINFO_CONNECT_TIME_T),
            time(CURLINFO_APPCONNECT_TIME_T)
        )
        return ExchangeTimes.Connecting(
            nameLookup: name, tcp: max(.zero, tcp - name), tls: tls > tcp ? tls - tcp : nil)
    }
}

/// Child processes inherit no sockets.
private let closesOnExec = Int32(SOCK_CLOEXEC.rawValue)

struct ConnectionEnds: Hashable {
    let remoteAddress: String
    let remotePort: Int32
    let localAddress: String
    let localPort: Int32
}

extension Exchange {
    /// Registers this exchange for libcurl's callbacks about its transfer.
    func setCallbacks(of handle: EasyHandle) {
        let context = Unmanaged.passUnretained(self).toOpaque()
        handle.set(CURLOPT_HEADERDATA, context)
        handle.set(CURLOPT_WRITEDATA, context)
        handle.set(CURLOPT_PREREQDATA, context)
        ccurl_set_data_function(handle.pointer, CURLOPT_HEADERFUNCTION) {
            bytes, size, count, context in
            let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
            return Exchange.of(context).headerArrived(line) ? line.count : 0
        }
        ccurl_set_data_function(handle.pointer, CURLOPT_WRITEFUNCTION) {
            bytes, size, count, context in
            Exchange.of(context).bodyArrived(
                UnsafeRawBufferPointer(start: bytes, count: size * count))
        }
        if configuration.client.addressPolicy.isRestricted {
            handle.set(CURLOPT_OPENSOCKETDATA, context)
            ccurl_set_socket_function(handle.pointer, CURLOPT_OPENSOCKETFUNCTION) {
                context, _, wanted in
                guard let wanted else { return CURL_SOCKET_BAD }
                let kind = wanted.pointee
                let address = withUnsafePointer(to: &wanted.pointee.addr) { IPAddress($0) }
                guard Exchange.of(context).mayConnect(to: address) else { return CURL_SOCKET_BAD }
                return socket(kind.family, kind.socktype | closesOnExec, kind.protocol)
            }
        }
        ccurl_set_request_function(handle.pointer, CURLOPT_PREREQFUNCTION) {
            context, remote, local, remotePort, localPort in
            let ends = ConnectionEnds(
                remoteAddress: remote.map { String(cString: $0) } ?? "", remotePort: remotePort,
                localAddress: local.map { String(cString: $0) } ?? "", localPort: localPort)
            return Exchange.of(context).requestLeaves(to: ends)
                ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
        }
    }

    private static func of(_ context: UnsafeMutableRawPointer?) -> Exchange {
        // Set above, and kept by the loop until the transfer is removed.
        Unmanaged<Exchange>.fromOpaque(context!).takeUnretainedValue()
    }
}
