import Halcyon

/// Which sources of a list are done, told by reports that name all that are done so far.
///
/// Sources with one key are taken in the order of the list.
struct PrefetchLedger {
    /// What a prefetcher reports: sources in the order they were done.
    struct Report: Sendable {
        var skipped: [Source] = []
        var failed: [Source] = []
        var completed: [Source] = []
    }

    /// The places of the sources that are not done; the next one is the last.
    private var places: [String: [Int]] = [:]
    private var seen: [PrefetchRow.Status: Int] = [:]

    init(_ sources: [Source]) {
        for (index, source) in sources.enumerated().reversed() {
            places[source.cacheKey, default: []].append(index)
        }
    }

    /// The places of the sources that no earlier report has named.
    mutating func take(_ report: Report) -> [(index: Int, status: PrefetchRow.Status)] {
        take(report.completed, as: .completed) + take(report.skipped, as: .skipped)
            + take(report.failed, as: .failed)
    }

    private mutating func take(
        _ sources: [Source], as status: PrefetchRow.Status
    ) -> [(index: Int, status: PrefetchRow.Status)] {
        let new = sources.dropFirst(seen[status, default: 0])
        seen[status] = sources.count
        return new.compactMap { source in
            places[source.cacheKey]?.popLast().map { ($0, status) }
        }
    }
}
