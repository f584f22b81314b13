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
