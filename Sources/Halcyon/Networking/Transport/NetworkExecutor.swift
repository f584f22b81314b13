import NIOCore
import NIOPosix

/// Goes on with a transfer on the network's threads, NIO's event loops: on the one that brought what the
/// transfer waited for, so that no other thread has to be woken for a few steps.
final class NetworkExecutor: TaskExecutor {
    static let shared = NetworkExecutor()

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let eventLoop =
            MultiThreadedEventLoopGroup.currentEventLoop
            ?? MultiThreadedEventLoopGroup.singleton.next()
        eventLoop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
