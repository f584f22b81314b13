import ArgumentParser
import Foundation
import HalcyonServer

/// Where a running server takes orders.
struct OperationsOptions: ParsableArguments {
    @OptionGroup var settings: ConfigurationOptions

    @Option(name: .long, help: "Where the server takes orders: HOST:PORT or unix:PATH.")
    var opsBind: String?

    /// Gives orders. One that is refused ends the program with the server's reason.
    func give<Value>(_ orders: (ServerOperations) async throws -> Value) async throws -> Value {
        let (configuration, address) = try settings.operations(
            at: opsBind, complaint: "The server takes orders nowhere.")
        do {
            return try await orders(
                ServerOperations(at: address, token: configuration.operationsToken))
        } catch let refusal as ServerOperations.Refusal {
            complain(refusal.description)
            throw ExitCode.failure
        }
    }
}

/// Purges sources and their derived images from a running server.
struct PurgeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "purge",
        abstract: "Has a running server forget sources and what was made of them.")

    @OptionGroup var options: OperationsOptions

    @Option(name: .long, help: "A source, such as https://example.com/a.jpg.")
    var source: String?

    @Option(name: .long, help: "All sources that begin so, such as https://example.com/2024/.")
    var prefix: String?

    @Option(name: .long, help: "What the path of a URL shows, in all formats.")
    var url: String?

    @Flag(name: .long, help: "Everything.")
    var all = false

    func validate() throws {
        let given = [source, prefix, url].compactMap(\.self).count + (all ? 1 : 0)
        guard given == 1 else {
            throw ValidationError("Give one of --source, --prefix, --url and --all.")
        }
    }

    private struct Order: Encodable {
        let source: String?
        let prefix: String?
        let url: String?
        let all: Bool?
    }

    func run() async throws {
        let order = Order(source: source, prefix: prefix, url: url, all: all ? true : nil)
        let answer = try await options.give {
            try await $0.order("/purge", json: try JSONEncoder().encode(order))
        }
        print(String(decoding: answer, as: UTF8.self), terminator: "")
    }
}
