import Foundation
import HalcyonPixels
import Synchronization

/// Lines of JSON, from any thread.
final class Output: Sendable {
    static let shared = Output()

    private let lock = Mutex(())

    func tell(_ line: [String: Any]) {
        let bytes = try? JSONSerialization.data(
            withJSONObject: line, options: [.sortedKeys, .withoutEscapingSlashes])
        guard let bytes else { return }
        lock.withLock { _ in FileHandle.standardOutput.write(bytes + [0x0A]) }
    }

    /// Counts of workers.
    func tellStatistics(_ more: [String: Any] = [:]) {
        let counts = DecodingWorker.statistics
        let line: [String: Any] = [
            "alive": counts.alive, "started": counts.started, "died": counts.died,
            "killed": counts.killed, "memory": counts.memory,
        ]
        tell(line.merging(more) { $1 })
    }
}
