import ArgumentParser
import Foundation
import Halcyon

struct CachePathCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "path",
        abstract: "Print the folder of the disk cache, or the cached file of a source.",
        discussion: """
            Of a source that is not cached nothing is printed on standard output, and the exit code \
            is 1.
            """)

    @Argument(help: "An http or https URL, a file, or a data URI.")
    var source: String?

    @Option(
        name: .customLong("processor"),
        help: ArgumentHelp("A processor of the cached image, as for load.", valueName: "spec"))
    var processors: [String] = []

    @OptionGroup var options: CacheOptions

    func validate() throws {
        _ = try ImageProcessorSpec.parse(option: processors)
        if source == nil && !processors.isEmpty {
            throw ValidationError("--processor needs a source.")
        }
    }

    func run() async throws {
        let processor =
            try ImageProcessorSpec.parse(option: processors) ?? DefaultImageProcessor.default
        let argument = source.map(ImageArgument.init)
        try await options.run { options, console in
            guard let argument else {
                Self.tell(options.location.path, as: "path", options, console)
                return
            }
            let key = try argument.source.get().cacheKey
            let file = try options.location.existing()?.cacheFileURLIfOnDisk(
                forKey: key, processorIdentifier: processor.identifier)
            guard let file else {
                throw CommandFailure(description: "\(argument.label) is not in the cache.")
            }
            Self.tell(file.path, as: "file", options, console)
        }
    }

    private static func tell(
        _ path: String, as name: String, _ options: CacheOptions, _ console: Console
    ) {
        console.print(options.json ? JSONObject([name: .string(path)]).text : path)
    }
}
