import Foundation
package import HalcyonPixels

extension DecodingBudget {
    /// Waits until this number of threads waits for memory, on a thread that may be blocked.
    package func until(waiters count: Int) async {
        await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
            Thread.detachNewThread {
                self.wait(forWaiters: count)
                done.resume()
            }
        }
    }
}
