import ArgumentParser
import Foundation
import Halcyon

struct CacheCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cache",
        abstract: "Look into the disk cache, clean it or clear it.",
        subcommands: [
            CacheInfoCommand.self, CacheListCommand.self, CachePathCommand.self,
            CacheCleanCommand.self, CacheClearCommand.self, CacheResponsesCommand.self,
            CacheInvalidateCommand.self,
        ])
}

struct CacheOptions: ParsableArguments {
    @OptionGroup var location: CacheLocation

    @Flag(help: "Print JSON.")
    var json = false

    /// Runs blocking `work` outside of Swift's threads, with a console for its output.
    func run(_ work: @escaping @Sendable (CacheOptions, Console) throws -> Void) async throws {
        try await CommandRunner.run { [self] console in
            try await BlockingWork.run { try work(self, console) }
        }
    }

    /// Runs asynchronous `work` with the cache, if there is one.
    func run(
        _ work: @escaping @Sendable (CacheOptions, Console, ImageCache?) async throws -> Void
    ) async throws {
        try await CommandRunner.run { [self] console in
            let cache = try await BlockingWork.run { try location.existing() }
            try await work(self, console, cache)
        }
    }
}

struct RemovedFiles: Equatable {
    private(set) var count: Int
    let bytes: Int64

    /// Files of these sizes.
    init(_ sizes: [Int]) {
        count = sizes.count
        bytes = sizes.reduce(0) { $0 + Int64($1) }
    }

    /// The entries whose files were at `urls`.
    init(_ urls: [URL], of entries: [DiskStorage.Entry]) {
        let names = Set(urls.map(\.lastPathComponent))
        self.init(entries.filter { names.contains($0.fileName) }.map(\.size))
        // The size of files without a row is unknown.
        count = urls.count
    }

    var json: JSONObject.Value {
        .object(JSONObject(["files": .int(Int64(count)), "bytes": .int(bytes)]))
    }

    var text: String { "\(Quantity.count(count, "file")), \(Quantity.bytes(bytes))" }
}
