import ArgumentParser
import Halcyon

struct CacheCleanCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clean",
        abstract: "Remove expired files and, above a size, those used longest ago.",
        usage: "halcyon cache clean [<options>]")

    @Option(
        help: .value(
            "bytes",
            "Bytes above which files are removed, until half of it is left; no limit by default."))
    var sizeLimit: UInt?

    @OptionGroup var options: CacheOptions

    func validate() throws {
        if sizeLimit == 0 { throw ValidationError("--size-limit must be at least 1.") }
    }

    func run() async throws {
        let sizeLimit = sizeLimit
        try await options.tell { options in
            try options.location.refuseForeignFiles()
            let storage = try options.location.existing()?.diskStorage
            if let sizeLimit { storage?.config.sizeLimit = sizeLimit }
            let entries = try storage?.entries() ?? []
            let expired = RemovedFiles(try storage?.removeExpiredValues() ?? [], of: entries)
            let exceeding = RemovedFiles(try storage?.removeSizeExceededValues() ?? [], of: entries)
            return (
                JSONObject(["expired": expired.json, "exceeding": exceeding.json]),
                ["removed as expired:  \(expired.text)", "removed as too much: \(exceeding.text)"]
            )
        }
    }
}

struct CacheClearCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clear", abstract: "Remove all files of the disk cache, without asking.",
        usage: "halcyon cache clear [<options>]",
        discussion: """
            Also what an interrupted program has left, and the index with all that is in it; something \
            else in the index's place is moved aside.
            """)

    @OptionGroup var options: CacheOptions

    func run() async throws {
        try await options.tell { options in
            try options.location.refuseForeignFiles()
            let storage = try options.location.existing()?.diskStorage
            let removed = RemovedFiles(try storage?.removeAllFiles().map(\.size) ?? [])
            return (JSONObject(["removed": removed.json]), ["removed \(removed.text)"])
        }
    }
}
