import Halcyon
import Testing

@testable import HalcyonCLI

struct PrefetchLedgerTests {
    private func sources(_ names: String...) throws -> [Source] {
        try names.map { try ImageArgument("https://example.org/\($0)").source.get() }
    }

    @Test func namesEachSourceOnce() throws {
        let list = try sources("a", "b", "c")
        var ledger = PrefetchLedger(list)
        var report = PrefetchLedger.Report(completed: [list[2]])
        #expect(ledger.take(report).map(\.index) == [2])
        #expect(ledger.take(report).isEmpty)
        report.failed.append(
            PropagationError(source: list[0], error: .imageSettingError(reason: .emptySource)))
        report.skipped.append(list[1])
        let rest = ledger.take(report)
        #expect(rest.map(\.index) == [1, 0])
        let failure = LoadFailure(KingfisherError.imageSettingError(reason: .emptySource))
        #expect(failure.code == 5001)
        #expect(rest.map(\.outcome) == [.skipped, .failed(failure)])
    }

    @Test func takesEqualSourcesInTheOrderOfTheList() throws {
        let list = try sources("a", "b", "a")
        var ledger = PrefetchLedger(list)
        var report = PrefetchLedger.Report(completed: [list[0]])
        #expect(ledger.take(report).map(\.index) == [0])
        report.skipped = [list[2]]
        #expect(ledger.take(report).map(\.index) == [2])
        report.skipped.append(list[2])
        #expect(ledger.take(report).isEmpty)
    }
}
