import ArgumentParser
import Foundation
import Halcyon

/// `halcyon cache`: what is in the disk cache, and how to get rid of it.
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

/// The options that all commands of the cache have.
struct CacheOptions: ParsableArguments {
    @OptionGroup var location: CacheLocation

    @Flag(help: "Print JSON.")
    var json = false

    /// Runs `work` outside of Swift's threads, and writes what it prints.
    func run(_ work: @escaping @Sendable (CacheOptions, Console) throws -> Void) async throws {
        let interruption = Interruption()
        let console = Console { interruption.interrupt(SIGPIPE) }
        try await CommandRunner.run(interruption, console) { [self] in
            try await BlockingWork.run { try work(self, console) }
        }
    }

    /// Runs `work`, which waits without blocking, with the cache if there is one.
    func run(
        _ work: @escaping @Sendable (CacheOptions, Console, ImageCache?) async throws -> Void
    ) async throws {
        let interruption = Interruption()
        let console = Console { interruption.interrupt(SIGPIPE) }
        try await CommandRunner.run(interruption, console) { [self] in
            let cache = try await BlockingWork.run { try location.existing() }
            try await work(self, console, cache)
        }
    }
}

/// Files that were removed.
struct RemovedFiles: Equatable {
    private(set) var count = 0
    private(set) var bytes: Int64 = 0

    init(_ entries: [DiskStorage.Entry]) {
        count = entries.count
        bytes = entries.reduce(0) { $0 + Int64($1.size) }
    }

    init(_ removals: [DiskStorage.Removal]) {
        count = removals.count
        bytes = removals.reduce(0) { $0 + Int64($1.size) }
    }

    /// Those of `entries` whose files are at `urls`.
    init(_ urls: [URL], of entries: [DiskStorage.Entry]) {
        let names = Set(urls.map(\.lastPathComponent))
        self.init(entries.filter { names.contains($0.fileName) })
        // Files without a row have no size any more.
        count = urls.count
    }

    var json: JSONObject.Value {
        .object(JSONObject(["files": .int(Int64(count)), "bytes": .int(bytes)]))
    }

    var text: String { "\(Quantity.count(count, "file")), \(Quantity.bytes(bytes))" }
}
