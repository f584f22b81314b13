import ArgumentParser
import Foundation
import HalcyonServer

struct OperationsOptions: ParsableArguments {
    @OptionGroup var settings: ConfigurationOptions

    @Option(help: "Where the server takes orders: HOST:PORT or unix:PATH.")
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

struct PurgeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "purge",
        abstract: "Has a running server forget sources and what was made of them.")

    @OptionGroup var options: OperationsOptions

    @Option(help: "A source, such as https://example.com/a.jpg.")
    var source: String?

    @Option(help: "All sources that begin so, such as https://example.com/2024/.")
    var prefix: String?

    @Option(help: "What the path of a URL shows, in all formats.")
    var url: String?

    @Flag(help: "Everything.")
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

/// Asks a running server whether it is ready: for containers, whose health is an exit code.
struct HealthCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "health", abstract: "Ends with 0 when a server is ready.")

    @OptionGroup var settings: ConfigurationOptions

    @Option(help: "Where the server tells of its health: HOST:PORT or unix:PATH.")
    var opsBind: String?

    @Option(help: "How many seconds the answer may take.")
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

struct WarmCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "warm",
        abstract: "Has a running server make pictures before anybody asks for them.")

    @OptionGroup var options: OperationsOptions

    @Option(
        help: "What clients will accept, such as image/webp: a picture for each. May be repeated.")
    var accept: [String] = []

    @Argument(help: "A file with the path of a URL on each line; - for the standard input.")
    var file: String

    private struct Order: Encodable {
        let urls: [String]
        let accept: [String]?
    }

    private struct Job: Decodable {
        let id: String
    }

    private struct Progress: Decodable {
        let total: Int
        let done: Int
        let failed: Int
        let failures: [String: String]
        let isFinished: Bool
    }

    func run() async throws {
        let data =
            file == "-"
            ? FileHandle.standardInput.readDataToEndOfFile()
            : FileManager.default.contents(atPath: file)
        guard let data else {
            complain("The file \(file) cannot be read.")
            throw ExitCode(66)
        }
        let urls = String(decoding: data, as: UTF8.self).split(whereSeparator: \.isNewline)
            .map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
        let failed = try await options.give { operations in
            var failed = 0
            // As many as a server takes at a time.
            for start in stride(from: 0, to: urls.count, by: 10_000) {
                let part = Array(urls[start..<min(start + 10_000, urls.count)])
                failed += try await make(part, operations)
            }
            return failed
        }
        if failed > 0 { throw ExitCode.failure }
    }

    /// Orders the images and waits until all are made; returns the number of failures.
    private func make(_ urls: [String], _ operations: ServerOperations) async throws -> Int {
        let order = Order(urls: urls, accept: accept.isEmpty ? nil : accept)
        let answer = try await operations.order("/warm", json: try JSONEncoder().encode(order))
        let id = try JSONDecoder().decode(Job.self, from: answer).id
        while true {
            let progress = try JSONDecoder().decode(
                Progress.self, from: try await operations.order("/warm/\(id)"))
            if progress.isFinished {
                for (url, code) in progress.failures.sorted(by: { $0.key < $1.key }) {
                    complain("\(url): \(code)")
                }
                print("\(progress.done) of \(progress.total) pictures are there.")
                return progress.failed
            }
            try await Task.sleep(for: .milliseconds(200))
        }
    }
}
