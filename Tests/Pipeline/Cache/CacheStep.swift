import Foundation
import Glibc
import HalcyonTestKit

/// A run of `CacheCrashStep`, which uses a cache in a process of its own.
final class CacheStep {
    private let process: ChildProcess
    private let folder: TemporaryDirectory
    private let file: URL

    /// Beside the tests, where the build puts it.
    private static let executable = URL(fileURLWithPath: "/proc/self/exe")
        .resolvingSymlinksInPath().deletingLastPathComponent()
        .appendingPathComponent("CacheCrashStep")

    /// Starts it.
    init(_ arguments: String...) throws {
        folder = try TemporaryDirectory()
        file = try folder.write(Data(), to: "output")
        let output = try FileHandle(forWritingTo: file)
        process = try ChildProcess(
            executable: Self.executable.path, arguments: arguments,
            standardInput: FileHandle.nullDevice.fileDescriptor,
            standardOutput: output.fileDescriptor, standardError: output.fileDescriptor)
        try output.close()
    }

    deinit {
        process.send(SIGKILL)
    }

    var isRunning: Bool { process.isRunning }

    /// What it has written so far.
    var output: String { String(decoding: (try? Data(contentsOf: file)) ?? Data(), as: UTF8.self) }

    /// Waits for its end.
    func exitCode() async -> Int32? { await process.exitCode() }

    /// Ends it without giving it a chance to tidy up.
    func kill() async -> Int32? {
        process.send(SIGKILL)
        return await process.exitCode()
    }
}
