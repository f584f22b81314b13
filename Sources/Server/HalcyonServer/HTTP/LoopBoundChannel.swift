import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import Synchronization

/// Connections whose requests are answered on the thread that reads and writes them: an answer that is at
/// hand then wakes no other thread, which cost more than all the rest of it. What blocks or computes for
/// long has threads of its own anyway.
///
/// The handlers of the framework are those of ``HTTP1Channel``, but for the decoder: theirs reads nothing after
/// a request for an upgrade, and does not tell a target that is too long from a field.
struct LoopBoundChannel: ServerChildChannel {
    private let channel: HTTP1Channel
    private let limits: RequestDecoder.Limits
    private let handlers: @Sendable () -> [any ChannelHandler]

    /// - Parameter handlers: What stands between the requests and the one who answers them.
    init(
        responder: @escaping HTTPChannelHandler.Responder, limits: RequestDecoder.Limits,
        handlers: @escaping @Sendable () -> [any ChannelHandler]
    ) {
        channel = HTTP1Channel(responder: responder)
        self.limits = limits
        self.handlers = handlers
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<AcceptedConnection> {
        channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            let decoder = RequestDecoder(limits)
            try pipeline.addHandler(HTTPResponseEncoder())
            try pipeline.addHandler(ByteToMessageHandler(decoder))
            try pipeline.addHandler(RequestCheck(decoder))
            try pipeline.addHandlers(handlers())
            return AcceptedConnection(
                try HTTP1Channel.Value(
                    wrappingChannelSynchronously: channel,
                    configuration: .init(isOutboundHalfClosureEnabled: true)))
        }
    }

    func handle(value: AcceptedConnection, logger: Logger) async {
        let connection = value.take()
        await withTaskExecutorPreference(LoopExecutor(loop: connection.channel.eventLoop)) {
            await channel.handle(value: connection, logger: logger)
        }
    }
}

/// A connection that waits for a task that answers its requests.
///
/// A server that ends may let go of one that it has just accepted, and what lets go of the framework's own value
/// ends the process.
final class AcceptedConnection: ServerChildChannelValue {
    private let value: HTTP1Channel.Value
    private let isTaken = Atomic(false)

    init(_ value: HTTP1Channel.Value) { self.value = value }

    deinit {
        guard !isTaken.load(ordering: .relaxed) else { return }
        // Nobody is left to be told of an error.
        Task { [value] in try? await value.executeThenClose { _, _ in } }
    }

    var channel: any Channel { value.channel }

    /// The framework's value, for whoever answers the requests.
    func take() -> HTTP1Channel.Value {
        isTaken.store(true, ordering: .relaxed)
        return value
    }
}

private final class LoopExecutor: TaskExecutor {
    private let loop: any EventLoop

    init(loop: any EventLoop) { self.loop = loop }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
