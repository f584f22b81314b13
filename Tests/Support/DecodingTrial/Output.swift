import Foundation
import HalcyonPixels
import Synchronization

/// Lines of JSON, from any thread.
final class Output: Sendable {
    enum Value: Encodable {
        case text(String)
        case number(Int)
        case numbers([Int])

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .text(let text): try container.encode(text)
            case .number(let number): try container.encode(number)
            case .numbers(let numbers): try container.encode(numbers)
            }
        }
    }

    static let shared = Output()

    private let lock = Mutex(())

    func tell(_ line: [String: Value]) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard var bytes = try? encoder.encode(line) else { return }
        bytes.append(0x0A)
        lock.withLock { _ in FileHandle.standardOutput.write(bytes) }
    }

    /// Counts of workers.
    func tellStatistics(_ more: [String: Value] = [:]) {
        let counts = DecodingWorker.statistics
        let line: [String: Value] = [
            "alive": .number(counts.alive), "started": .number(counts.started),
            "died": .number(counts.died), "killed": .number(counts.killed),
            "memory": .number(counts.memory),
        ]
        tell(line.merging(more) { $1 })
    }
}
