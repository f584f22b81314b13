import Halcyon
import Synchronization

/// The finished sources of a list, by the reports of a prefetcher.
///
/// Sources with one key are taken in the order of the list.
struct PrefetchLedger {
    /// Newly finished sources, in the order they finished.
    struct Report: Sendable {
        var skipped: [Source] = []
        var failed: [PropagationError] = []
        var completed: [Source] = []
    }

    /// A finished source: its index in the list, and its row.
    struct Entry: Sendable {
        let index: Int
        let row: PrefetchRow
    }

    private let arguments: [ImageArgument]
    /// The first unfinished index of each key.
    private var places: [String: Int] = [:]
    /// The next index of the same key, for each index; `none` at the end.
    private var following: [Int]
    private static let none = -1

    init(_ arguments: [ImageArgument]) throws {
        self.arguments = arguments
        following = Array(repeating: Self.none, count: arguments.count)
        places.reserveCapacity(arguments.count)
        for (index, argument) in arguments.enumerated().reversed() {
            let key = try argument.source.get().cacheKey
            following[index] = places.updateValue(index, forKey: key) ?? Self.none
        }
    }

    mutating func take(_ report: Report) -> [Entry] {
        report.completed.compactMap { take($0) { _ in .completed } }
            + report.skipped.compactMap { take($0) { _ in .skipped } }
            + report.failed.compactMap { failed in
                take(failed.source) { .failed(LoadFailure(failed.error, at: $0.label)) }
            }
    }

    private mutating func take(
        _ source: Source, as outcome: (ImageArgument) -> PrefetchRow.Outcome
    ) -> Entry? {
        let key = source.cacheKey
        guard let index = places[key] else { return nil }
        places[key] = following[index] == Self.none ? nil : following[index]
        let argument = arguments[index]
        return Entry(index: index, row: PrefetchRow(source: argument, outcome: outcome(argument)))
    }
}

/// Extracts the new sources from the lists passed to a prefetcher's blocks, which hold all finished
/// ones: keeping the lists for each source would take memory by the square of their length.
final class PrefetchNews: Sendable {
    private let seen = Mutex((skipped: 0, completed: 0))

    func take(skipped: [Source], completed: [Source]) -> PrefetchLedger.Report {
        let former = seen.withLock { seen in
            defer { seen = (skipped.count, completed.count) }
            return seen
        }
        return PrefetchLedger.Report(
            skipped: Array(skipped.dropFirst(former.skipped)),
            completed: Array(completed.dropFirst(former.completed)))
    }
}
