import ArgumentParser
import Foundation
import Halcyon
import HalcyonServer
import HalcyonWork

@main
struct ServerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "halcyon-server",
        abstract: "Serves pictures by their URLs: resized, cut, in other formats.",
        discussion: """
            Without anything, it serves the sample pictures to this machine alone:

              halcyon-server
              curl -o small.webp http://127.0.0.1:8080/_/rs:fit:300:300/plain/local:///china.jpg@webp
            """,
        version: ImageServer.version,
        subcommands: [
            ServeCommand.self, SignCommand.self, HealthCommand.self, PurgeCommand.self,
            WarmCommand.self,
        ],
        defaultSubcommand: ServeCommand.self)

    static func main() async {
        DecodingWorker.runIfAsked()
        ProgramEnd.tellsOfLostOutput(of: "halcyon-server")
        await main(ProcessArguments.texts)
    }
}

/// The settings that all commands take, from files, the environment and flags, the last ones going first.
struct ConfigurationOptions: ParsableArguments {
    @Option(help: "A JSON file with settings.")
    var config: String?

    @Option(
        help: ArgumentHelp(
            "A setting and its value, such as limits.maxFrames=1.", valueName: "name=value"))
    var set: [String] = []

    func read(warn: (String) -> Void) throws -> ImageServerConfiguration {
        var configuration = ImageServerConfiguration()
        if let config {
            guard let text = FileManager.default.contents(atPath: config) else {
                throw ConfigurationError("The file \(config) cannot be read.")
            }
            try configuration.take(file: text)
        }
        for name in try configuration.take(environment: ProcessInfo.processInfo.environment) {
            warn("The variable \(name) names no setting.")
        }
        for pair in set {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else {
                throw ConfigurationError("--set \(pair) is not NAME=VALUE.")
            }
            try configuration.set(String(parts[0]), to: String(parts[1]))
        }
        return configuration
    }

    /// - Parameter text: Takes the place of `ops.bind` where it is given.
    func operations(
        at text: String?, complaint: String
    ) throws -> (configuration: ImageServerConfiguration, address: ListenAddress) {
        try configuring {
            let configuration = try read(warn: complain)
            if let text {
                return (configuration, try ListenAddress(typed: text, after: "--ops-bind "))
            }
            if let address = configuration.operationsBind { return (configuration, address) }
            throw ConfigurationError(complaint)
        }
    }
}

extension ListenAddress {
    /// - Parameter option: What stands before `text` in the complaint about it.
    init(typed text: String, after option: String = "") throws {
        guard let address = ListenAddress(text) else {
            throw ConfigurationError("\(option)\(text) is neither HOST:PORT nor unix:PATH.")
        }
        self = address
    }
}

extension ConfigurationError {
    init(_ fault: String) { self.init(faults: [fault]) }
}

/// The exit code for a configuration that makes no sense (EX_CONFIG of sysexits.h).
let badConfiguration = ExitCode(78)

/// Runs `body`; what is wrong with the configuration ends the program, with a line for each fault.
func configuring<Value>(_ body: () throws -> Value) throws -> Value {
    do {
        return try body()
    } catch let error as ConfigurationError {
        for fault in error.faults { complain(fault) }
    }
    throw badConfiguration
}

func complain(_ text: String) {
    // There is no other place to tell of it.
    try? FileHandle.standardError.write(contentsOf: Data("halcyon-server: \(text)\n".utf8))
}
