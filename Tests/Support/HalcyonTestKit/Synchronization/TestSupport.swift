// Clocks, gates and lists of events come with this module.
import Dispatch
@_exported public import HalcyonTesting

/// Waits until what was on the main queue has run and been released.
package func mainQueueTurn() async {
    await withCheckedContinuation { continuation in
        DispatchQueue.main.async { continuation.resume() }
    }
}

/// Sleeps for a millisecond, in loops that poll for events without a notification: released
/// references, files of other processes, closed ports, messages through Redis, and values such as
/// the metrics of a server.
///
/// Where a notification exists, wait with `Observed` or `Recorder` instead. Unlike
/// `Task.yield()`, such a loop leaves the processor to the awaited work.
package func pause() async {
    // A cancelled test goes on to its own checks.
    try? await Task.sleep(for: .milliseconds(1))
}
