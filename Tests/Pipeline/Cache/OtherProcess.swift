import Foundation
import Glibc
import HalcyonTestKit

/// A Python script in a process of its own.
final class OtherProcess {
    private let process: ChildProcess
    private let input = Pipe()
    private let output = Pipe()

    private static let interpreter = "/usr/bin/python3"
    static let isAvailable = FileManager.default.isExecutableFile(atPath: interpreter)

    init(_ script: String, arguments: [String]) throws {
        process = try ChildProcess(
            executable: Self.interpreter, arguments: ["-c", script] + arguments,
            standardInput: input.fileHandleForReading.fileDescriptor,
            standardOutput: output.fileHandleForWriting.fileDescriptor, standardError: 2)
        // Reading ends with the script.
        try output.fileHandleForWriting.close()
        try input.fileHandleForReading.close()
    }

    deinit {
        process.send(SIGKILL)
    }

    /// The next line the script prints; waits for it.
    func readLine() -> String {
        var line = Data()
        while let byte = try? output.fileHandleForReading.read(upToCount: 1),
            byte != Data("\n".utf8),
            !byte.isEmpty
        {
            line += byte
        }
        return String(decoding: line, as: UTF8.self)
    }

    func writeLine(_ text: String) {
        try? input.fileHandleForWriting.write(contentsOf: Data("\(text)\n".utf8))
    }

    /// Ends the process without giving it a chance to tidy up, and waits until it is gone.
    func kill() async {
        process.send(SIGKILL)
        _ = await process.exitCode()
    }
}
