import ArgumentParser
import Halcyon

/// `halcyon cache clear`: removes everything.
struct CacheClearCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clear", abstract: "Remove all files of the disk cache, without asking.",
        discussion: """
            Also what an interrupted program has left, and the index with all that is in it; something \
            else in the index's place is moved aside.
            """)

    @OptionGroup var options: CacheOptions

    func run() async throws {
        try await options.run { options, console in
            try options.location.refuseForeignFiles()
            let storage = try options.location.existing()?.diskStorage
            let removed = RemovedFiles(try storage?.removeAllFiles() ?? [])
            console.print(
                options.json
                    ? JSONObject(["removed": removed.json]).text : "removed \(removed.text)")
        }
    }
}
