import Foundation
import Halcyon

/// What `halcyon prefetch` was asked to do, checked.
struct PrefetchRequest: Sendable {
    let arguments: [ImageArgument]
    let processor: (any ImageProcessor)?
    let cacheDirectory: String?
    let forceRefresh: Bool
    let jobs: Int
    let isJSON: Bool
    let isQuiet: Bool

    private enum Event: Sendable {
        case report(PrefetchLedger.Report)
        /// The user has stopped it: what fails from now on fails because of that.
        case stop
    }

    /// Prefetches everything and prints a row for each source; returns how many failed.
    ///
    /// When the task is cancelled the prefetcher is stopped, and what it cuts short is not printed.
    func run(console: Console) async throws -> Int {
        let sources = try arguments.map { try $0.source.get() }
        let options = try options()
        let (events, continuation) = AsyncStream.makeStream(of: Event.self)
        let prefetcher = ImagePrefetcher(sources: sources, options: options) {
            continuation.yield(.report(.init(skipped: $0, failed: $1, completed: $2)))
        } completionHandler: {
            continuation.yield(.report(.init(skipped: $0, failed: $1, completed: $2)))
            continuation.finish()
        }
        prefetcher.maxConcurrentDownloads = jobs
        let clock = ContinuousClock()
        let start = clock.now
        // Not cancelled with this task: it ends when the prefetcher has let go of everything.
        let printing = Task { await printRows(of: sources, events, console) }
        prefetcher.start()
        let tally = await withTaskCancellationHandler {
            await printing.value
        } onCancel: {
            continuation.yield(.stop)
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

    private func printRows(
        of sources: [Source], _ events: AsyncStream<Event>, _ console: Console
    ) async -> PrefetchTally {
        console.beginProgress(ProgressBoard(sourceCount: sources.count, showsTotalBar: true))
        var ledger = PrefetchLedger(sources)
        var rows = ResultSequencer<PrefetchRow?>()
        var tally = PrefetchTally()
        var isStopped = false
        for await event in events {
            guard case .report(let report) = event else {
                isStopped = true
                continue
            }
            for (index, status) in ledger.take(report) {
                console.progress { $0.finish(failed: status == .failed) }
                let isCutShort = isStopped && status == .failed
                let row = PrefetchRow(source: arguments[index], status: status)
                for case let row? in rows.finish(index, with: isCutShort ? nil : row) {
                    tally.count(row)
                    print(row, tally: tally, console: console)
                }
            }
        }
        return tally
    }

    private func print(_ row: PrefetchRow, tally: PrefetchTally, console: Console) {
        if isJSON {
            console.print(row.json.text)
        } else if !isQuiet {
            console.print(row.line(style: console.outputStyle))
        } else if row.status == .failed {
            console.note(row.line(style: console.errorStyle))
        }
        if console.tellsProgressInLines {
            console.note("[\(tally.count)/\(arguments.count)] \(row.source.label.printable)")
        }
    }

    private func options() throws -> KingfisherOptionsInfo {
        var options = LoadRequest.options(processor: processor)
        options += [
            .targetCache(try CacheLocation.cache(in: cacheDirectory)),
            .downloader(ImageDownloader(name: "halcyon")),
        ]
        if forceRefresh { options.append(.forceRefresh) }
        return options
    }
}
