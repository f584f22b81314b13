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

    @OptionGroup(title: "Defaults")
    var configuration: ConfigurationOptions

    /// Runs blocking `work` outside of Swift's threads, with a console for its output.
    func run(_ work: @escaping @Sendable (CacheOptions, Console) throws -> Void) async throws {
        try await CommandRunner.run { [self] console in
            try await BlockingWork.run { try work(self, console) }
        }
    }

    /// Prints what blocking `work` returns: the object for programs, the lines for people.
    func tell(
        _ work: @escaping @Sendable (CacheOptions) throws -> (json: JSONObject, lines: [String])
    ) async throws {
        try await run { options, console in
            let (json, lines) = try work(options)
            console.print(options.json ? [json.jsonText] : lines)
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

    var json: JSONObject { JSONObject(["files": count, "bytes": bytes]) }

    var text: String { "\(Quantity.count(count, "file")), \(Quantity.bytes(bytes))" }
}

/// Which disk cache a command uses.
struct CacheLocation: ParsableArguments {
    @Option(
        name: .customLong("cache-directory"),
        help: .value(
            "dir",
            "The folder of the disk cache; by default halcyon/default in $XDG_CACHE_HOME, or in "
                + "~/.cache without that, which is kept below 1 GB."))
    var directory: String?

    func validate() throws {
        if directory?.isEmpty == true {
            throw ValidationError("The name of the cache directory is empty.")
        }
    }

    /// The cache whose files are in `directory` itself; the default one without.
    /// - Throws: `KingfisherError` when the folder cannot be made.
    static func cache(in directory: String?) throws -> ImageCache {
        guard let directory else {
            let cache = ImageCache.default
            cache.diskStorage.config.sizeLimit = 1_000_000_000
            return cache
        }
        return try ImageCache(
            name: "default", cacheDirectoryURL: URL(fileURLWithPath: directory, isDirectory: true)
        ) { folder, _ in folder }
    }

    /// The folder of partial downloads; `nil` for that of the default cache.
    static func partials(in directory: String?) -> URL? {
        // Hidden, so that a listing of the cache's folder shows cached files only.
        directory.map {
            URL(fileURLWithPath: $0, isDirectory: true)
                .appendingPathComponent(".partials", isDirectory: true)
        }
    }

    /// The cache to look into; `nil` when there is no such folder, which is then not made.
    func existing() throws -> ImageCache? {
        if let directory, !FileManager.default.fileExists(atPath: directory) { return nil }
        return try Self.cache(in: directory)
    }

    var path: String {
        guard let directory else { return ImageCache.default.diskStorage.directoryURL.path }
        return URL(fileURLWithPath: directory, isDirectory: true).path
    }

    /// Refuses a folder with files that no cache has made, before files in it are removed.
    /// - Throws: `CommandFailure`.
    func refuseForeignFiles() throws {
        guard let directory else { return }
        // A folder that cannot be listed is told of when it is used.
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        if let name = names.sorted().first(where: { !Self.isCacheFile($0) }) {
            throw CommandFailure(
                description: "\(directory) holds files that no image cache has made, "
                    + "such as \(name); nothing was removed.")
        }
    }

    /// Whether a cache gives such names: hidden ones, and digests with or without an extension.
    private static func isCacheFile(_ name: String) -> Bool {
        if name.hasPrefix(".") { return true }
        let stem = name.prefix { $0 != "." }
        return stem.utf8.count == 64 && stem.allSatisfy(\.isHexDigit)
    }
}
