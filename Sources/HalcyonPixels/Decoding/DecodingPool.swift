import Foundation
package import HalcyonWork
import Vips

/// The threads on which images are decoded, processed and encoded.
package enum DecodingPool {
    /// As many threads as there are cores, so that neither Swift's cooperative threads nor the cores are
    /// overcommitted.
    package static let shared = ThreadPool(
        name: "decoding", width: ProcessInfo.processInfo.activeProcessorCount,
        afterEachJob: Vips.endJob)
}
