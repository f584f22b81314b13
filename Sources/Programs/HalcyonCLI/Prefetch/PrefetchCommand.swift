import ArgumentParser
import Foundation
import Halcyon
import HalcyonWork

/// `halcyon prefetch`: brings a list of images into the disk cache.
struct PrefetchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prefetch",
        abstract: "Bring a list of images into the disk cache.",
        usage: "halcyon prefetch <file> [<options>]",
        discussion: """
            The list has one source per line: an http or https URL, or a file. Blank lines and \
            lines that start with # are ignored. What is cached already is skipped; one source that \
            fails, or a line that is no source, does not stop the others.

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

    @Argument(
        help: ArgumentHelp("The file with the list; - for standard input.", valueName: "file"))
    var list: String

    @Option(
        name: .customLong("processor"),
        help: ArgumentHelp(
            "A processor to apply, as for load; repeat it for a chain.", valueName: "spec"))
    var processors: [String] = []

    @OptionGroup(title: "Cache")
    var cacheLocation: CacheLocation

    @Flag(help: "Load again what is cached.")
    var forceRefresh = false

    @Option(help: ArgumentHelp("How many sources are loaded at a time.", valueName: "n"))
    var jobs = 5

    @Flag(help: "Print one JSON object per source, and one with the sums.")
    var json = false

    @Flag(name: .shortAndLong, help: "Show no progress and print failures only.")
    var quiet = false

    func validate() throws {
        guard (1...LoadRequest.mostJobs).contains(jobs) else {
            throw ValidationError("--jobs must be from 1 to \(LoadRequest.mostJobs), not \(jobs).")
        }
        if list.isEmpty { throw ValidationError("The name of the list is empty.") }
        _ = try ImageProcessorSpec.parse(option: processors)
    }

    func run() async throws {
        // Until the list is there, Ctrl-C ends the process as it ends any other.
        let request = PrefetchRequest(
            arguments: try await readList(),
            processor: try ImageProcessorSpec.parse(option: processors),
            cacheDirectory: cacheLocation.directory, forceRefresh: forceRefresh, jobs: jobs,
            isJSON: json, isQuiet: quiet)
        try await CommandRunner.countFailures(quiet: quiet, request.run)
    }

    private func readList() async throws -> [ImageArgument] {
        let path = list == "-" ? nil : FilePath(argument: list)
        let name = path?.description ?? "standard input"
        do {
            let data = try await BlockingWork.run {
                guard let path else {
                    return try FileHandle.standardInput.readToEnd() ?? Data()
                }
                return try path.read(includingStreams: true)
            }
            return try PrefetchList(data).arguments
        } catch let failure as FilePath.Failure {
            throw ValidationError("\(name) cannot be read: \(failure.reason)")
        } catch {
            throw ValidationError("\(name) cannot be read: \(ErrorText.of(error))")
        }
    }
}
