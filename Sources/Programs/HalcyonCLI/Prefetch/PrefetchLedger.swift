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

    /// A finished source.
    struct Entry: Sendable {
        /// The index of the source in the list.
        let index: Int
        let outcome: PrefetchRow.Outcome
    }

    /// The first unfinished index of each key.
    private var places: [String: Int] = [:]
    /// The next index of the same key, for each index; `none` at the end.
    private var following: [Int]
    private static let none = -1

    init(_ sources: [Source]) {
        following = Array(repeating: Self.none, count: sources.count)
        places.reserveCapacity(sources.count)
        for (index, source) in sources.enumerated().reversed() {
            following[index] = places.updateValue(index, forKey: source.cacheKey) ?? Self.none
        }
    }

    /// Returns the entries of a report.
    mutating func take(_ report: Report) -> [Entry] {
        report.completed.compactMap { take($0, as: .completed) }
            + report.skipped.compactMap { take($0, as: .skipped) }
            + report.failed.compactMap { take($0.source, as: .failed(LoadFailure($0.error))) }
    }

    private mutating func take(_ source: Source, as outcome: PrefetchRow.Outcome) -> Entry? {
        let key = source.cacheKey
        guard let index = places[key] else { return nil }
        places[key] = following[index] == Self.none ? nil : following[index]
        return Entry(index: index, outcome: outcome)
    }
}

/// Extracts the new sources from the lists passed to a prefetcher's blocks, which hold all finished
/// ones: keeping the lists for each source would take memory by the square of their length.
final class PrefetchNews: Sendable {
    private let seen = Mutex((skipped: 0, completed: 0))

    /// Returns a report of the sources that are new in these lists, without failures.
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
