import Foundation

/// The processors of this machine.
package enum Processors {
    /// At least 1.
    package static let count = max(1, ProcessInfo.processInfo.activeProcessorCount)
}
