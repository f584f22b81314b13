import ArgumentParser
import Foundation
import Halcyon
import HalcyonWork

struct PrefetchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prefetch",
        abstract: "Bring a list of images into the disk cache.",
        usage: "halcyon prefetch <file> [<options>]",
        discussion: """
            The list has one source per line: an http or https URL, or a file. Blank lines and \
            lines that start with # are ignored. What is cached already is skipped; one source that \
            fails, or a line that is no source, does not stop the others. Of a file only what processors \
            make is cached; without any, it is only looked at.

            EXAMPLES:
              halcyon prefetch birds.txt
              halcyon prefetch birds.txt --processor downsample:400x400 --jobs 10
              grep '^https:' birds.txt | halcyon prefetch --json -

            JSON: one object per source and line, in the order of the list:
              source
              status        completed, skipped or failed
              error         for a failed one: code and message
            and at the end
              completed, skipped, failed, milliseconds

            EXIT CODES: 0 none failed, 1 some failed, 64 bad usage or no list, 130 stopped by Ctrl-C.
            """)

    @Argument(help: .value("file", "The file with the list; - for standard input."))
    var list: String

    @Option(
        name: .customLong("processor"),
        help: .value("spec", "A processor to apply, as for load; repeat it for a chain."))
    var processors: [String] = []

    @OptionGroup(title: "Cache")
    var cacheLocation: CacheLocation

    @Flag(help: "Load again what is cached.")
    var forceRefresh = false

    @Option(help: .value("n", "How many sources are loaded at a time."))
    var jobs = 5

    @Flag(help: "Print one JSON object per source, and one with the sums.")
    var json = false

    @Flag(name: .shortAndLong, help: "Show no progress and print failures only.")
    var quiet = false

    @OptionGroup(title: "Defaults")
    var configuration: ConfigurationOptions

    func validate() throws {
        try check(jobs: jobs)
        if list.isEmpty { throw ValidationError("The name of the list is empty.") }
        _ = try ImageProcessorSpec.parse(option: processors)
    }

    func run() async throws {
        // Until the list is there, Ctrl-C ends the process as it ends any other.
        let arguments = try await InputFile.read(list) { try PrefetchList($0).arguments }
        let processor = try ImageProcessorSpec.parse(option: processors)
        try await CommandRunner.countFailures(quiet: quiet) { [self] console in
            try await prefetch(arguments, processor, console)
        }
    }
}

extension PrefetchCommand {
    /// Prefetches all sources and prints a row for each; returns the number of failures.
    ///
    /// Sources cut short by cancelling the task are not printed.
    private func prefetch(
        _ arguments: [ImageArgument], _ processor: (any ImageProcessor)?, _ console: Console
    ) async throws -> Int {
        let options = try options(processor)
        let batch = LoadBatch(
            arguments: arguments, jobs: jobs, console: console, showsSources: false)
        let clock = ContinuousClock()
        let start = clock.now
        var tally = PrefetchTally()
        await batch.run { job in
            await PrefetchRow(of: job.argument, options)
        } report: { row in
            tally.count(row)
            console.report(
                row, number: tally.count, of: arguments.count, isJSON: json, isQuiet: quiet)
        }
        if !Task.isCancelled {
            let duration = clock.now - start
            if json {
                console.print(tally.json(after: duration).jsonText)
            } else if !quiet {
                console.print(tally.summary(after: duration, style: console.outputStyle))
            }
        }
        return tally.failed
    }

    private func options(_ processor: (any ImageProcessor)?) throws -> KingfisherOptionsInfo {
        var options = LoadRequest.options(processor: processor)
        options += [
            .targetCache(try CacheLocation.cache(in: cacheLocation.directory)),
            .downloader(ImageDownloader(name: "halcyon")),
            // Images decoded for processing are not needed again.
            .memoryCacheExpiration(.expired),
        ]
        if forceRefresh { options.append(.forceRefresh) }
        return options
    }
}
