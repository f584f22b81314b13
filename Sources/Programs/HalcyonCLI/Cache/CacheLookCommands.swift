import ArgumentParser
import Foundation
import Halcyon

struct CacheListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the cached files, those used last first.",
        discussion: """
            With --json, one object per file and line: file, key, bytes, format, expires, \
            lastAccess. Keys of processed images end in @ and the processor's identifier.
            """)

    @OptionGroup var options: CacheOptions

    func run() async throws {
        try await options.run { options, console in
            let entries = try options.location.existing()?.diskStorage.entries() ?? []
            if options.json {
                for entry in entries { try console.printNow(entry.json.text) }
                return
            }
            var table = Table(
                .init(title: "file"), .init(title: "format"),
                .init(title: "bytes", alignment: .right), .init(title: "expires"),
                .init(title: "last access"), .init(title: "key"))
            for entry in entries { table.add(entry.row) }
            for line in table.lines { console.print(line) }
        }
    }
}

extension DiskStorage.Entry {
    fileprivate var json: JSONObject {
        JSONObject([
            "file": .string(fileName), "key": .init(key), "bytes": .int(Int64(size)),
            "format": .init(format), "expires": .init(expiration.map(Self.timestamp)),
            "lastAccess": .string(Self.timestamp(lastAccess)),
        ])
    }

    fileprivate var row: [String] {
        [
            // Enough to find the file; the whole name would fill the line.
            fileName.columns > 16 ? fileName.prefix(12) + "…" : fileName,
            format ?? "?", "\(size)", expiration.map(Self.timestamp) ?? "never",
            Self.timestamp(lastAccess), (key ?? "unknown").printable.shortened(to: 100),
        ]
    }

    private static func timestamp(_ date: Date) -> String {
        date.formatted(.iso8601)
    }
}

struct CacheInfoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "info", abstract: "Tell where the disk cache is and how much it holds.")

    @OptionGroup var options: CacheOptions

    func run() async throws {
        try await options.run { options, console in
            let storage = try options.location.existing()?.diskStorage
            let total = RemovedFiles(try storage?.entries().map(\.size) ?? [])
            let limit = storage.flatMap { $0.config.sizeLimit > 0 ? $0.config.sizeLimit : nil }
            if options.json {
                let object = JSONObject([
                    "path": .string(options.location.path), "files": .int(Int64(total.count)),
                    "bytes": .int(total.bytes), "limit": .init(limit.map { Int(clamping: $0) }),
                ])
                console.print(object.text)
            } else {
                console.print("path   \(options.location.path.printable)")
                console.print("files  \(total.count)")
                console.print("bytes  \(total.bytes) (\(Quantity.bytes(total.bytes)))")
                console.print("limit  \(limit.map { "\($0)" } ?? "none")")
            }
        }
    }
}

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
