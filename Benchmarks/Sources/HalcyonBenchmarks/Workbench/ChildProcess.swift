import Dispatch
import Foundation

/// A program that runs beside this one, spoken to in lines. It is told to end by the end of its
/// standard input.
final class ChildProcess: @unchecked Sendable {
    // Unchecked because of `Process` and `FileHandle`, which are used on `queue` alone.

    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var unread = Data()
    private let queue = DispatchQueue(label: "child process")

    init(_ program: URL, _ arguments: [String], environment: [String: String] = [:]) throws {
        process.executableURL = program
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = input
        process.standardOutput = output
        try process.run()
    }

    /// Writes a line, if any, and returns the next one of the program.
    func exchange(_ line: String?) async throws -> String {
        try await withCheckedThrowingContinuation { continuation in
            queue.async {
                continuation.resume(with: Result { try self.exchangeNow(line) })
            }
        }
    }

    /// Lets the program end and waits for it.
    func close() async {
        await withCheckedContinuation { continuation in
            queue.async {
                // It may have ended, and closed its side, already.
                try? self.input.fileHandleForWriting.close()
                self.process.waitUntilExit()
                continuation.resume()
            }
        }
    }

    /// Asks the program to end, which does not read its standard input, and waits for it.
    func terminate() async {
        await withCheckedContinuation { continuation in
            queue.async {
                self.process.terminate()
                self.process.waitUntilExit()
                continuation.resume()
            }
        }
    }

    private func exchangeNow(_ line: String?) throws -> String {
        if let line {
            try input.fileHandleForWriting.write(contentsOf: Data("\(line)\n".utf8))
        }
        while true {
            if let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: unread[unread.startIndex..<end], as: UTF8.self)
                unread = Data(unread[(end + 1)...])
                return line
            }
            let more = output.fileHandleForReading.availableData
            guard !more.isEmpty else {
                throw BenchmarkError("\(process.executableURL?.path ?? "") ended without an answer")
            }
            unread += more
        }
    }

    /// Runs a program to its end and returns what it printed.
    static func output(of program: URL, _ arguments: [String]) async throws -> String {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(with: Result { try run(program, arguments) })
            }
        }
    }

    private static func run(_ program: URL, _ arguments: [String]) throws -> String {
        let process = Process()
        let output = Pipe()
        process.executableURL = program
        process.arguments = arguments
        process.standardOutput = output
        try process.run()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw BenchmarkError(
                "\(program.path) ended with exit code \(process.terminationStatus)")
        }
        return String(decoding: data, as: UTF8.self)
    }
}
