import ArgumentParser
import Halcyon

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
