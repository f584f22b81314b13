import CTestKit
import Foundation
import Glibc
import HalcyonTestKit

/// A run of `DecodingTrial`, which decodes pictures that do what they should not.
final class TrialRun: Sendable {
    struct Line: Decodable {
        var name: String?
        var number: Int?
        var outcome: String?
        var error: String?
        var milliseconds: Int?
        var report: String?
        var workers: [Int32]?
        var started: Int?
        var died: Int?
        var killed: Int?
        var differing: String?
        var failed: String?
        var right: Int?
        var wrong: Int?
        var lost: Int?
        var pass: String?
    }

    private let child: ChildProcess
    private let lines: ChildLines

    /// Starts it, by way of a shell when there is something to be done before.
    init(_ arguments: [String], after command: String? = nil) throws {
        let program = BuiltProgram.file("DecodingTrial").path
        (child, lines) = try ChildLines.of { descriptor in
            try ChildProcess(
                executable: command == nil ? program : "/bin/bash",
                arguments: command.map { ["-c", "\($0); exec \"$0\" \"$@\"", program] + arguments }
                    ?? arguments,
                standardInput: FileHandle.nullDevice.fileDescriptor,
                standardOutput: descriptor, standardError: descriptor)
        }
    }

    deinit {
        child.send(SIGKILL)
    }

    /// Decodes files one after the other.
    static func decode(
        _ files: [String], options: [String] = [], after command: String? = nil
    ) async throws -> [Line] {
        let run = try TrialRun(["decode", "--threads", "1"] + options + files, after: command)
        guard await run.exitCode() == 0 else { throw Failure(output: run.lines.all) }
        return await run.all()
    }

    struct Failure: Error {
        let output: [String]
    }

    func exitCode() async -> Int32? { await child.exitCode() }

    /// All lines of JSON, after its end.
    func all() async -> [Line] {
        // There is no such line: this waits for the end.
        await lines.line(containing: "\n")
        return lines.all.compactMap(Self.line)
    }

    /// The numbers of its workers, when there are some.
    func workers() async -> [Int32] {
        await lines.line(containing: "\"workers\"").flatMap(Self.line)?.workers ?? []
    }

    func send(_ signal: Int32) { child.send(signal) }

    private static func line(_ text: String) -> Line? {
        try? JSONDecoder().decode(Line.self, from: Data(text.utf8))
    }

    /// Whether a process that is no child has ended, or does so within ten seconds.
    static func hasEnded(_ process: Int32) -> Bool { ctrial_wait_for_end(process, 10_000) }
}

extension [TrialRun.Line] {
    /// The lines of the good pictures.
    var good: [TrialRun.Line] { filter { $0.name?.hasPrefix("trial:good") == true } }
    var outcomes: [String] { compactMap(\.outcome) }
    var errors: [String] { compactMap(\.error) }
    var reports: [String] { compactMap(\.report) }
    var counts: TrialRun.Line? { last { $0.started != nil } }
}
