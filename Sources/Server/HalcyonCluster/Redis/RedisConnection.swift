import HalcyonWork
import NIOCore
import NIOPosix

/// One connection to a Redis server. Commands of several callers are sent without waiting for the answers to
/// those before them, which come in the same order.
final class RedisConnection: Sendable {
    /// Called with a message of a channel that this connection has subscribed to.
    typealias OnMessage = @Sendable (_ channel: String, _ content: ByteBuffer) -> Void

    private let channel: any Channel
    private let timeout: Duration
    private let time: TimeSource

    private init(_ channel: any Channel, timeout: Duration, time: TimeSource) {
        self.channel = channel
        self.timeout = timeout
        self.time = time
    }

    /// Connects, and says who we are.
    ///
    /// - Parameters:
    ///   - onMessage: Called on the connection's thread.
    ///   - onEnd: Called when an established connection has ended, for whatever reason.
    static func open(
        _ settings: RedisSettings, time: TimeSource,
        onMessage: @escaping OnMessage = { _, _ in },
        onEnd: @escaping @Sendable () -> Void = {}
    ) async throws(RedisError) -> RedisConnection {
        // Longer than a command: callers give up sooner, and the next ones find it open.
        let limit = max(settings.timeout, .seconds(1))
        let tls = settings.usesTLS ? try TLSClient(roots: settings.tlsRoots) : nil
        let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connectTimeout(TimeAmount(limit))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls, case .tcp(let host, _) = settings.address {
                        try channel.pipeline.syncOperations.addHandler(
                            TLSClientHandler(tls, host: host))
                    }
                    try channel.pipeline.syncOperations.addHandler(
                        RedisChannelHandler(onMessage: onMessage))
                }
            }
        let channel: any Channel
        do {
            channel =
                switch settings.address {
                case .tcp(let host, let port):
                    try await bootstrap.channelOption(.tcpOption(.tcp_nodelay), value: 1)
                        .connect(host: host, port: port).get()
                case .unix(let path):
                    try await bootstrap.connect(unixDomainSocketPath: path).get()
                }
        } catch {
            throw .unreachable("\(error)")
        }
        let connection = RedisConnection(channel, timeout: limit, time: time)
        if !settings.greeting.isEmpty {
            do throws(RedisError) {
                _ = try await connection.send(settings.greeting, until: time.now + limit)
            } catch {
                connection.close()
                throw error
            }
        }
        channel.closeFuture.whenComplete { _ in onEnd() }
        return connection
    }

    var isOpen: Bool { channel.isActive }

    /// Sends commands together, and waits for their answers until `deadline`.
    /// - Throws: `RedisError`, also when the answer to one of them is an error.
    func send(
        _ commands: [RESPCommand], until deadline: ContinuousClock.Instant
    ) async throws(RedisError) -> [RESPValue] {
        let batch = RedisBatch(
            commands: commands, deadline: deadline, time: time, patience: timeout)
        let written = channel.eventLoop.makePromise(of: Void.self)
        written.futureResult.whenFailure { batch.answer.give(.failure(.broken("\($0)"))) }
        channel.writeAndFlush(batch, promise: written)
        let replies = try await batch.answer.value.get()
        for case .error(let text) in replies { throw .refused(text) }
        return replies
    }

    func close() { channel.close(promise: nil) }
}

private struct RedisBatch: Sendable {
    let commands: [RESPCommand]
    let deadline: ContinuousClock.Instant
    let time: TimeSource
    /// The time after `deadline` until which answers may come: then the connection is ended.
    let patience: Duration
    /// Also given when it is too late for one.
    let answer = OneShot<Result<[RESPValue], RedisError>>()
    let arrival = OneShot<Void>()

    /// Watches over the time that is left, by the event loop's clock: the other end has no other one. On the channel's
    /// own thread: set from another one, a timer would wake it once more for each question.
    func startTimer(on channel: any Channel) -> Scheduled<Void> {
        channel.eventLoop.after(TimeAmount(deadline - time.now)) { [self] in
            answer.give(.failure(.timedOut))
            channel.eventLoop.after(TimeAmount(patience)) { [self] in
                if !arrival.isGiven { channel.close(promise: nil) }
            }
        }
    }

    func take(_ replies: [RESPValue]) {
        arrival.give(())
        answer.give(.success(replies))
    }
}

private final class RedisChannelHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = RedisBatch
    typealias OutboundOut = ByteBuffer

    private let onMessage: RedisConnection.OnMessage
    private let decoder = RESPDecoder()
    private var received = ByteBuffer()
    /// Those that have been sent, with the answers they have so far.
    private var pending = CircularBuffer<Entry>()

    private struct Entry {
        let batch: RedisBatch
        let timer: Scheduled<Void>
        var replies: [RESPValue] = []
    }

    init(onMessage: @escaping RedisConnection.OnMessage) { self.onMessage = onMessage }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let batch = unwrapOutboundIn(data)
        guard context.channel.isActive else {
            batch.answer.give(.failure(.broken("the connection has ended")))
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        pending.append(Entry(batch: batch, timer: batch.startTimer(on: context.channel)))
        var buffer = context.channel.allocator.buffer(capacity: 256)
        for command in batch.commands { command.write(to: &buffer) }
        context.write(wrapOutboundOut(buffer), promise: promise)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        received.writeImmutableBuffer(unwrapInboundIn(data))
        do throws(RESPError) {
            while let value = try decoder.value(in: &received) {
                guard take(value) else { throw RESPError(reason: "an answer to nothing") }
            }
            received.discardReadBytes()
        } catch {
            end("not the Redis protocol: \(error.reason)")
            context.close(promise: nil)
        }
    }

    private func take(_ value: RESPValue) -> Bool {
        if case .array(let parts) = value, parts.count == 3, parts[0].text == "message",
            let channel = parts[1].text, let content = parts[2].bytes
        {
            onMessage(channel, content)
            return true
        }
        guard !pending.isEmpty else { return false }
        pending[pending.startIndex].replies.append(value)
        let first = pending[pending.startIndex]
        if first.replies.count == first.batch.commands.count {
            pending.removeFirst()
            first.timer.cancel()
            first.batch.take(first.replies)
        }
        return true
    }

    func channelInactive(context: ChannelHandlerContext) {
        end("the connection has ended")
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        end("\(error)")
        context.close(promise: nil)
    }

    private func end(_ reason: String) {
        let abandoned = pending
        pending = []
        for entry in abandoned {
            entry.timer.cancel()
            entry.batch.answer.give(.failure(.broken(reason)))
        }
    }
}
