import HummingbirdCore
import Logging
import NIOCore
import Synchronization

/// Connections whose requests are answered on the thread that reads and writes them: an answer that is at
/// hand then wakes no other thread, which cost more than all the rest of it. What blocks or computes for
/// long has threads of its own anyway.
struct LoopBoundChannel: ServerChildChannel {
    let channel: HTTP1Channel

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<AcceptedConnection> {
        self.channel.setup(channel: channel, logger: logger).map { AcceptedConnection($0) }
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

    init(_ value: HTTP1Channel.Value) {
        self.value = value
    }

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

/// Runs tasks on an event loop.
private final class LoopExecutor: TaskExecutor {
    private let loop: any EventLoop

    init(loop: any EventLoop) {
        self.loop = loop
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
