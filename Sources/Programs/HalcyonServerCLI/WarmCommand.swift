import ArgumentParser
import Foundation
import HalcyonServer

/// Has a running server make pictures before anybody asks for them.
struct WarmCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "warm",
        abstract: "Has a running server make pictures before anybody asks for them.")

    @OptionGroup var options: OperationsOptions

    @Option(
        name: .long,
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
