import Halcyon

/// Which sources of a list are done, told by the reports of a prefetcher.
///
/// Sources with one key are taken in the order of the list.
struct PrefetchLedger {
    /// What a prefetcher reports: sources in the order they were done, of those that failed only the ones that
    /// no earlier report has named.
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

    /// The places of the sources that are not done; the next one is the last.
    private var places: [String: [Int]] = [:]
    private var seen = (completed: 0, skipped: 0)

    init(_ sources: [Source]) {
        for (index, source) in sources.enumerated().reversed() {
            places[source.cacheKey, default: []].append(index)
        }
    }

    /// The sources that no earlier report has named.
    mutating func take(_ report: Report) -> [Entry] {
        let completed = report.completed.dropFirst(seen.completed)
        let skipped = report.skipped.dropFirst(seen.skipped)
        seen = (report.completed.count, report.skipped.count)
        return completed.compactMap { take($0, as: .completed) }
            + skipped.compactMap { take($0, as: .skipped) }
            + report.failed.compactMap { take($0.source, as: .failed(LoadFailure($0.error))) }
    }

    private mutating func take(_ source: Source, as outcome: PrefetchRow.Outcome) -> Entry? {
        places[source.cacheKey]?.popLast().map { Entry(index: $0, outcome: outcome) }
    }
}
