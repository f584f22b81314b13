import ArgumentParser
import Foundation
import Halcyon

struct CacheListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the cached files, those used last first.",
        usage: "halcyon cache list [<options>]",
        discussion: """
            With --json, one object per file and line: file, key, bytes, format, expires, \
            lastAccess. Keys of processed images end in @ and the processor's identifier.
            """)

    @OptionGroup var options: CacheOptions

    func run() async throws {
        try await options.run { options, console in
            let entries = try options.location.existing()?.diskStorage.entries() ?? []
            if options.json {
                for entry in entries { try console.printNow(entry.json.jsonText) }
                return
            }
            var table = Table(
                .init(title: "file"), .init(title: "format"),
                .init(title: "bytes", alignment: .right), .init(title: "expires"),
                .init(title: "last access"), .init(title: "key"))
            for entry in entries { table.add(entry.row) }
            console.print(table.lines)
        }
    }
}

extension DiskStorage.Entry {
    fileprivate var json: JSONObject {
        JSONObject([
            "file": fileName, "key": key, "bytes": size, "format": format,
            "expires": expiration.map(Self.timestamp), "lastAccess": Self.timestamp(lastAccess),
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
        commandName: "info", abstract: "Tell where the disk cache is and how much it holds.",
        usage: "halcyon cache info [<options>]")

    @OptionGroup var options: CacheOptions

    func run() async throws {
        try await options.tell { options in
            let storage = try options.location.existing()?.diskStorage
            let total = RemovedFiles(try storage?.entries().map(\.size) ?? [])
            let limit = storage.flatMap { $0.config.sizeLimit > 0 ? $0.config.sizeLimit : nil }
            let object = JSONObject([
                "path": options.location.path, "files": total.count, "bytes": total.bytes,
                "limit": limit.map { Int(clamping: $0) },
            ])
            return (
                object,
                [
                    "path   \(options.location.path.printable)", "files  \(total.count)",
                    "bytes  \(total.bytes) (\(Quantity.bytes(total.bytes)))",
                    "limit  \(limit.map { "\($0)" } ?? "none")",
                ]
            )
        }
    }
}

struct CachePathCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "path",
        abstract: "Print the folder of the disk cache, or the cached file of a source.",
        usage: "halcyon cache path [<source>] [<options>]",
        discussion: """
            Of a source that is not cached nothing is printed on standard output, and the exit code \
            is 1.
            """)

    @Argument(help: "An http or https URL, a file, or a data URI.")
    var source: String?

    @Option(
        name: .customLong("processor"),
        help: .value("spec", "A processor of the cached image, as for load."))
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
        try await options.tell { options in
            guard let argument else {
                let path = options.location.path
                return (JSONObject(["path": path]), [path])
            }
            let key = try argument.source.get().cacheKey
            let file = try options.location.existing()?.cacheFileURLIfOnDisk(
                forKey: key, processorIdentifier: processor.identifier)
            guard let file else {
                throw CommandFailure(description: "\(argument.label) is not in the cache.")
            }
            return (JSONObject(["file": file.path]), [file.path])
        }
    }
}
