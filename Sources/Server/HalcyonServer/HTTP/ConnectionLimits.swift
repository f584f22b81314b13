import HTTPTypes
import HalcyonCluster
import NIOCore
import NIOHTTPTypes

/// Ends connections in time. A response is written in full before its connection ends, unless the
/// client accepts nothing of it for too long. Idle connections end after a timeout, and so do those
/// with a slow request head, after the responses to earlier requests. Data after the last response
/// is discarded. When the server shuts down, a connection without a request waits for a little
/// while: one may be on its way.
///
/// Stands behind the HTTP decoder, and puts a handler of bytes before that. The framework closes a
/// connection as soon as it has handed over the response: the closing waits here.
final class ConnectionLimits: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// By the event loop's clock, like `ByteWatch` and `WriteProgress`: the client has no other one.
    struct Times {
        /// From the first byte of a request to the end of its head.
        var head: TimeAmount
        var idle: TimeAmount
        /// The longest time without a byte of a response being accepted.
        var write: TimeAmount
        /// The wait for a last request once the server accepts no more connections.
        var lastRequest: TimeAmount
        /// The time for data that the client still sends after the last response: if it were not
        /// read, the client's system would discard the response.
        var linger = TimeAmount.seconds(1)
    }

    /// Fired to end the connection whatever it is doing.
    struct Cut: Sendable {}

    /// Fired when the head of a request takes too long: no later request is accepted, either.
    struct SlowHead: Sendable {}

    /// Fired when the response being made needs the request's body: the client has to go on.
    struct BodyWanted: Sendable {}

    private let times: Times
    private let bytes: ByteWatch
    private var progress: WriteProgress
    private var isReading = false
    /// Whether the client has announced the incoming request as its last.
    private var isLastRequest = false
    /// Whether the request being answered waits for its body.
    private var isBodyWanted = false
    /// The number of requests whose responses have not been handed over.
    private var unanswered = 0
    /// The number of responses that are handed over but not written.
    private var unwritten = 0
    private var lastActivity = NIODeadline.distantPast
    private var phase = Phase.serving
    /// A close that was requested before everything was written.
    private var held: (mode: CloseMode, promise: EventLoopPromise<Void>?)?
    /// Whether the server accepts no more connections, so that each response ends its own.
    private var isQuiescing = false
    private var idleTimer: Scheduled<Void>?
    private var writeTimer: Scheduled<Void>?
    private var lingerTimer: Scheduled<Void>?
    private var lastRequestTimer: Scheduled<Void>?

    private enum Phase {
        case serving
        /// No further request is accepted; earlier ones are answered.
        case afterRequests
        /// The response being handed over is the last one.
        case afterAnswer
        /// The last answer has been handed over.
        case afterWriting
        /// The last response is written; incoming data is discarded.
        case lingering
        case cut
    }

    init(_ times: Times) {
        self.times = times
        bytes = ByteWatch(headTime: times.head)
        progress = WriteProgress(patience: times.write)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        lastActivity = context.eventLoop.now
        do {
            try context.pipeline.syncOperations.addHandler(bytes, position: .first)
        } catch {
            // A pipeline that takes no handlers has ended.
            context.close(promise: nil)
        }
        if context.channel.isActive { watchIdleness(context, in: times.idle) }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        for timer in [idleTimer, writeTimer, lingerTimer, lastRequestTimer] { timer?.cancel() }
        held?.promise?.fail(ChannelError.alreadyClosed)
        held = nil
    }

    // MARK: Inbound

    func channelActive(context: ChannelHandlerContext) {
        watchIdleness(context, in: times.idle)
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        lastActivity = context.eventLoop.now
        let part = unwrapInboundIn(data)
        switch part {
        case .head(let head):
            bytes.noteHead()
            isReading = true
            isLastRequest = head.headerFields[values: .connection].contains {
                $0.split(whereSeparator: { ", \t".contains($0) }).contains {
                    $0.lowercased() == "close"
                }
            }
            if phase == .serving { unanswered += 1 }
        case .end:
            bytes.noteEnd()
            isReading = false
        case .body: break
        }
        guard phase == .serving else { return }
        context.fireChannelRead(data)
        // RFC 9112, section 9.6: the response to it says that it is the last one, too.
        if case .end = part, isLastRequest { takeNoMore(context) }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        context.fireChannelReadComplete()
        readOn(context)
    }

    /// Reads on after the last request for the client's sake, even if no handler asks for more.
    private func readOn(_ context: ChannelHandlerContext) {
        switch phase {
        case .afterAnswer, .afterWriting, .lingering: context.read()
        case .serving, .afterRequests, .cut: break
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is Cut:
            cut(context)
            return
        case is SlowHead:
            takeNoMore(context)
            return
        case is BodyWanted:
            isBodyWanted = true
            return
        case is ChannelShouldQuiesceEvent:
            // The framework would at once end connections without a request.
            if !isQuiescing { watchLastRequest(context) }
            isQuiescing = true
            return
        case let event as ChannelEvent where event == .inputClosed:
            isReading = false
            if phase == .lingering { cut(context) }
        default: break
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // Data after the last request may be anything.
        if phase == .serving { context.fireErrorCaught(error) }
    }

    // MARK: Outbound

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch phase {
        case .serving, .afterRequests, .afterAnswer: break
        case .afterWriting, .lingering, .cut:
            promise?.fail(ChannelError.outputClosed)
            return
        }
        switch unwrapOutboundIn(data) {
        case .head(var head) where head.status.kind != .informational:
            // The rest of a request that is answered before its end is not awaited.
            let isLast = unanswered == 1 && (isReading || phase == .afterRequests)
            if isQuiescing || isLast { head.headerFields[.connection] = "close" }
            let ends = head.headerFields[.connection] == "close"
            if ends { phase = .afterAnswer }
            context.write(wrapOutboundOut(.head(head)), promise: promise)
            // A client that reads only after sending its whole request must be able to send it.
            if ends { readOn(context) }
        case .end:
            unanswered -= 1
            unwritten += 1
            isBodyWanted = false
            let isLast = phase == .afterAnswer || phase == .afterRequests && unanswered == 0
            if isLast { phase = .afterWriting }
            let written = promise ?? context.eventLoop.makePromise(of: Void.self)
            written.futureResult.assumeIsolated().whenComplete { [self] _ in noteWritten(context) }
            context.write(data, promise: written)
        default:
            context.write(data, promise: promise)
        }
    }

    func flush(context: ChannelHandlerContext) {
        context.flush()
        guard unwritten > 0, writeTimer == nil else { return }
        progress.begin(bytesLeft(context), at: context.eventLoop.now)
        watchWriting(context)
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        // A peer that closes its output answers nothing more, and would wait for the client.
        let answers = phase == .serving || phase == .afterRequests || phase == .afterAnswer
        let isLast = mode == .output && answers
        let mustWait = unwritten > 0 || isLast || phase == .lingering && isReading
        guard mustWait, mode != .input, phase != .cut else {
            context.close(mode: mode, promise: promise)
            return
        }
        if var held {
            if mode == .all { held.mode = .all }
            held.promise.setOrCascade(to: promise)
            self.held = held
        } else {
            held = (mode, promise)
        }
        if isLast {
            phase = .afterWriting
            if unwritten == 0 { linger(context) }
        }
    }

    private func takeNoMore(_ context: ChannelHandlerContext) {
        // In any other phase it ends anyway.
        guard phase == .serving else { return }
        bytes.stop()
        if unanswered > 0 {
            phase = .afterRequests
        } else if unwritten > 0 {
            phase = .afterWriting
        } else {
            cut(context)
        }
    }

    /// Notes that a response has been written, or never will be.
    private func noteWritten(_ context: ChannelHandlerContext) {
        unwritten -= 1
        lastActivity = context.eventLoop.now
        guard unwritten == 0 else { return }
        writeTimer?.cancel()
        writeTimer = nil
        if phase == .afterWriting, isReading || held?.mode != .all {
            linger(context)
        } else if let held {
            self.held = nil
            context.close(mode: held.mode, promise: held.promise)
        }
    }

    /// Closes this side of the connection, and the other when the client does, or after a while.
    private func linger(_ context: ChannelHandlerContext) {
        phase = .lingering
        bytes.stop()
        context.close(mode: .output, promise: nil)
        readOn(context)
        lingerTimer = context.eventLoop.after(times.linger) { [self] in cut(context) }
    }

    private func cut(_ context: ChannelHandlerContext) {
        phase = .cut
        let promise = held?.promise
        held = nil
        context.close(mode: .all, promise: promise)
    }

    // MARK: Time

    private func watchIdleness(_ context: ChannelHandlerContext, in time: TimeAmount) {
        guard idleTimer == nil else { return }
        idleTimer = context.eventLoop.after(time) { [self] in
            idleTimer = nil
            // For the body of the only request, and not for one behind it.
            let isWaiting = isReading && isBodyWanted && unanswered == 1 && phase == .serving
            let isWorking = unanswered > 0 && !isWaiting || unwritten > 0
            let left = isWorking ? times.idle : lastActivity + times.idle - context.eventLoop.now
            if left > .zero { watchIdleness(context, in: left) } else { cut(context) }
        }
    }

    private func watchLastRequest(_ context: ChannelHandlerContext) {
        lastRequestTimer = context.eventLoop.after(times.lastRequest) { [self] in
            guard phase == .serving else { return }
            if unanswered > 0 {
                watchLastRequest(context)
            } else {
                takeNoMore(context)
            }
        }
    }

    private func watchWriting(_ context: ChannelHandlerContext) {
        writeTimer = context.eventLoop.after(progress.interval) { [self] in
            if progress.isStuck(bytesLeft(context), at: context.eventLoop.now) {
                cut(context)
            } else {
                watchWriting(context)
            }
        }
    }

    /// The number of bytes that have not reached the client: in this process, and in the system.
    private func bytesLeft(_ context: ChannelHandlerContext) -> Int {
        // A channel that cannot tell of one of them is watched by the other.
        let buffered = (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
        return buffered + (context.pipeline.syncOperations.bytesUnderWay ?? 0)
    }
}
