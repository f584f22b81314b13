import ArgumentParser
import Foundation

/// Serves files from memory until standard input ends; a process of its own, so that it shares no
/// thread with a client.
struct OriginCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "origin", shouldDisplay: false)

    @Argument(
        help: "The folder whose files are served as /NAME, /NAME/ANYTHING and, late, /delayed/NAME."
    )
    var folder: String

    func run() async throws {
        let files = try FileManager.default.contentsOfDirectory(
            at: URL(filePath: folder), includingPropertiesForKeys: nil)
        var bodies: [String: Data] = [:]
        for file in files where !file.hasDirectoryPath {
            bodies[file.lastPathComponent] = try Data(contentsOf: file)
        }

        let server = try await OriginServer.start(bodies: bodies)
        try FileHandle.standardOutput.write(contentsOf: Data("\(server.port)\n".utf8))
        while readLine() != nil {}
        try await server.stop()
    }
}
