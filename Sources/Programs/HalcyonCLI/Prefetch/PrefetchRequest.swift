import Foundation
import Halcyon

/// The validated request of `halcyon prefetch`.
struct PrefetchRequest: Sendable {
    let arguments: [ImageArgument]
    let processor: (any ImageProcessor)?
    let cacheDirectory: String?
    let forceRefresh: Bool
    let jobs: Int
    let isJSON: Bool
    let isQuiet: Bool

    /// Prefetches all sources and prints a row for each; returns the number of failures.
    ///
    /// Cancelling the task stops the prefetcher; sources cut short by that are not printed.
    func run(_ console: Console) async throws -> Int {
        let sources = try arguments.map { try $0.source.get() }
        let options = try options()
        let ledger = try PrefetchLedger(arguments)
        let (reports, continuation) = AsyncStream.makeStream(of: PrefetchLedger.Report.self)
        let news = PrefetchNews()
        let prefetcher = ImagePrefetcher(sources: sources, options: options) {
            skipped, _, completed in
            continuation.yield(news.take(skipped: skipped, completed: completed))
        } completionHandler: { skipped, _, completed in
            continuation.yield(news.take(skipped: skipped, completed: completed))
            continuation.finish()
        }
        prefetcher.maxConcurrentDownloads = jobs
        let clock = ContinuousClock()
        let start = clock.now
        // Not cancelled with this task: it ends with the prefetcher's last report.
        let printing = Task {
            await printRows(ledger, reports, failures: { prefetcher.takeFailures() }, console)
        }
        prefetcher.start()
        let tally = await withTaskCancellationHandler {
            await printing.value
        } onCancel: {
            prefetcher.stop()
        }
        if !Task.isCancelled {
            let duration = clock.now - start
            if isJSON {
                console.print(tally.json(after: duration).text)
            } else if !isQuiet {
                console.print(tally.summary(after: duration, style: console.outputStyle))
            }
        }
        return tally.failed
    }

    /// - Parameter failures: Returns the failures since its last call; they may be ahead of the
    ///   reports.
    private func printRows(
        _ ledger: PrefetchLedger, _ reports: AsyncStream<PrefetchLedger.Report>,
        failures: @Sendable () -> [PropagationError], _ console: Console
    ) async -> PrefetchTally {
        console.beginProgress(ProgressBoard(sourceCount: arguments.count, showsTotalBar: true))
        var ledger = ledger
        var rows = ResultSequencer<PrefetchRow?>()
        var tally = PrefetchTally()
        for await var report in reports {
            report.failed = failures()
            for entry in ledger.take(report) {
                let row = entry.row
                console.progress { $0.finish(failed: row.isFailure) }
                let isCutShort = row.failure?.isCancellation == true
                for case let row? in rows.finish(entry.index, with: isCutShort ? nil : row) {
                    tally.count(row)
                    console.report(
                        row, number: tally.count, of: arguments.count, isJSON: isJSON,
                        isQuiet: isQuiet)
                }
            }
        }
        return tally
    }

    private func options() throws -> KingfisherOptionsInfo {
        var options = LoadRequest.options(processor: processor)
        options += [
            .targetCache(try CacheLocation.cache(in: cacheDirectory)),
            .downloader(ImageDownloader(name: "halcyon")),
            // Images decoded for processing are not needed again.
            .memoryCacheExpiration(.expired),
        ]
        if forceRefresh { options.append(.forceRefresh) }
        return options
    }
}
