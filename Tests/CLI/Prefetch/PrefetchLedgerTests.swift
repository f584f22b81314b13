import Foundation
import Testing

@testable import Halcyon
@testable import HalcyonCLI

struct PrefetchLedgerTests {
    private func sources(_ names: String...) throws -> [Source] {
        try arguments(names).map { try $0.source.get() }
    }

    private func arguments(_ names: [String]) -> [ImageArgument] {
        names.map { ImageArgument("https://example.org/\($0)") }
    }

    @Test func namesEachSourceOnce() throws {
        let list = try sources("a", "b", "c")
        var ledger = try PrefetchLedger(arguments(["a", "b", "c"]))
        var report = PrefetchLedger.Report(completed: [list[2]])
        #expect(ledger.take(report).map(\.index) == [2])
        #expect(ledger.take(report).isEmpty)
        report = PrefetchLedger.Report(
            skipped: [list[1]],
            failed: [
                PropagationError(source: list[0], error: .imageSettingError(reason: .emptySource))
            ])
        let rest = ledger.take(report)
        #expect(rest.map(\.index) == [1, 0])
        let failure = LoadFailure(KingfisherError.imageSettingError(reason: .emptySource))
        #expect(failure.code == 5001)
        #expect(rest.map(\.row.outcome) == [.skipped, .failed(failure)])
        #expect(rest.map(\.row.source.text) == ["https://example.org/b", "https://example.org/a"])
    }

    @Test func aSourceThatEndedItsDecoderIsNamedAsItWasGiven() throws {
        let list = try sources("a.svg?token=secret")
        var ledger = try PrefetchLedger(arguments(["a.svg?token=secret"]))
        let item = ImageProcessItem.data(Data("<svg/>".utf8))
        let processor = DefaultImageProcessor.default
        ProcessingFailures.shared.note(
            ImageCodingError.decoderStopped(.SVG, reason: "SIGABRT"), of: item, by: processor)
        let error = KingfisherError.processorError(
            reason: .processingFailed(processor: processor, item: item))
        let report = PrefetchLedger.Report(
            failed: [PropagationError(source: list[0], error: error)])
        #expect(
            ledger.take(report).map(\.row.failure?.message) == [
                "The decoder of SVG stopped (SIGABRT) at https://example.org/a.svg?token=***."
            ])
    }

    @Test func takesEqualSourcesInTheOrderOfTheList() throws {
        let list = try sources("a", "b", "a")
        var ledger = try PrefetchLedger(arguments(["a", "b", "a"]))
        var report = PrefetchLedger.Report(completed: [list[0]])
        #expect(ledger.take(report).map(\.index) == [0])
        report = PrefetchLedger.Report(skipped: [list[2]])
        #expect(ledger.take(report).map(\.index) == [2])
        #expect(ledger.take(report).isEmpty)
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
        #expect(
            reports.map { $0.skipped.map(\.cacheKey) } == [
                [], [list[0].cacheKey], [list[1].cacheKey], [],
            ])
        #expect(
            reports.map { $0.completed.map(\.cacheKey) } == [
                [list[2].cacheKey], [], [list[3].cacheKey], [],
            ])
    }
}
