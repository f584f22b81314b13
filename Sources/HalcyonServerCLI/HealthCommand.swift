import ArgumentParser
import Foundation
import HalcyonServer

/// Asks a running server whether it is ready: for containers, whose health is an exit code.
struct HealthCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "health", abstract: "Ends with 0 when a server is ready.")

    @OptionGroup var settings: ConfigurationOptions

    @Option(name: .long, help: "Where the server tells of its health: HOST:PORT.")
    var opsBind: String?

    func run() async throws {
        let (_, host, port) = try settings.operations(
            at: opsBind, complaint: "The server tells of its health at no port.")
        guard await ServerHealth.isReady(host: host, port: port) else {
            complain("The server at \(host):\(port) is not ready.")
            throw ExitCode.failure
        }
    }
}
