import Dispatch

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
