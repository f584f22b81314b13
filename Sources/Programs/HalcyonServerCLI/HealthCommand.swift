import ArgumentParser
import Foundation
import HalcyonServer

/// Asks a running server whether it is ready: for containers, whose health is an exit code.
struct HealthCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "health", abstract: "Ends with 0 when a server is ready.")

    @OptionGroup var settings: ConfigurationOptions

    @Option(name: .long, help: "Where the server tells of its health: HOST:PORT or unix:PATH.")
    var opsBind: String?

    @Option(name: .long, help: "How many seconds the answer may take.")
    var timeout = 2.0

    func validate() throws {
        guard timeout > 0, timeout <= 86_400 else {
            throw ValidationError("--timeout is a number of seconds, at most a day.")
        }
    }

    func run() async throws {
        let (_, address) = try settings.operations(
            at: opsBind, complaint: "The server tells of its health nowhere.")
        guard await ServerHealth.isReady(at: address, within: .seconds(timeout)) else {
            complain("The server at \(address) is not ready.")
            throw ExitCode.failure
        }
    }
}
