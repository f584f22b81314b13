import Halcyon
import Synchronization

/// Which sources of a list are done, told by the reports of a prefetcher.
///
/// Sources with one key are taken in the order of the list.
struct PrefetchLedger {
    /// Sources that no earlier report has named, in the order they were done.
    struct Report: Sendable {
        var skipped: [Source] = []
        var failed: [PropagationError] = []
        var completed: [Source] = []
    }

    /// A source that is done.
    struct Entry: Sendable {
        /// Its place in the list.
        let index: Int
        let outcome: PrefetchRow.Outcome
    }

    /// The first place of each key that is not done.
    private var places: [String: Int] = [:]
    /// For each place the next one of the same key, or none.
    private var following: [Int]
    private static let none = -1

    init(_ sources: [Source]) {
        following = Array(repeating: Self.none, count: sources.count)
        places.reserveCapacity(sources.count)
        for (index, source) in sources.enumerated().reversed() {
            following[index] = places.updateValue(index, forKey: source.cacheKey) ?? Self.none
        }
    }

    /// The entries of what a report names.
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

/// Takes what is new from the lists of a prefetcher's blocks, which hold everything that is done: keeping them
/// for each source would take memory by the square of their length.
final class PrefetchNews: Sendable {
    private let seen = Mutex((skipped: 0, completed: 0))

    /// The report of what these lists name and no earlier ones did, without failures.
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
