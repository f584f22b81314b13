import Halcyon
import Testing

@testable import HalcyonCLI

struct PrefetchLedgerTests {
    private func sources(_ names: String...) throws -> [Source] {
        try names.map { try ImageArgument("https://example.org/\($0)").source.get() }
    }

    @Test func aReportCarriesOnlyWhatIsNewInTheListsOfAPrefetcher() throws {
        let list = try sources("a", "b", "c", "d")
        let news = PrefetchNews()
        let reports = [
            news.take(skipped: [], completed: [list[2]]),
            news.take(skipped: [list[0]], completed: [list[2]]),
            news.take(skipped: [list[0], list[1]], completed: [list[2], list[3]]),
            news.take(skipped: [list[0], list[1]], completed: [list[2], list[3]]),
        ]
        let keys = list.map(\.cacheKey)
        #expect(reports.map { $0.skipped.map(\.cacheKey) } == [[], [keys[0]], [keys[1]], []])
        #expect(reports.map { $0.completed.map(\.cacheKey) } == [[keys[2]], [], [keys[3]], []])
    }
}
