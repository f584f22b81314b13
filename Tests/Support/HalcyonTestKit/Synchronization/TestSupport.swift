// Clocks, gates and lists of events come with this module.
import Dispatch
@_exported public import HalcyonTesting

/// Waits until what was on the main queue has run and been released.
package func mainQueueTurn() async {
    await withCheckedContinuation { continuation in
        DispatchQueue.main.async { continuation.resume() }
    }
}
