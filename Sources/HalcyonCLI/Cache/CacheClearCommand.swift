import ArgumentParser
import Halcyon

/// `halcyon cache clear`: removes everything.
struct CacheClearCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clear", abstract: "Remove all files of the disk cache, without asking.")

    @OptionGroup var options: CacheOptions

    func run() async throws {
        try await options.run { options, console in
            try options.location.refuseForeignFiles()
            let storage = try options.location.existing()?.diskStorage
            let removed = RemovedFiles(try storage?.entries() ?? [])
            try storage?.removeAll()
            console.print(
                options.json
                    ? JSONObject(["removed": removed.json]).text : "removed \(removed.text)")
        }
    }
}
