import Foundation
import Glibc
import HalcyonTestKit
import Testing

/// Two processes at one cache folder.
@Suite struct TwoProcessTests {
    /// How many operations in all; `scripts/crash-test` does 10,000.
    private static let count = 600

    @Test func whateverTwoProcessesDoNoFileIsOfAnotherGenerationThanTheIndexSays() async throws {
        let folder = try TemporaryDirectory()
        let path = folder.file("mixed").path
        let half = "\(Self.count / 2)"
        let processes = [
            try CacheStep("mix", path, half, "1"), try CacheStep("mix", path, half, "2"),
        ]
        for process in processes {
            #expect(await process.exitCode() == 0, "\(process.output)")
            #expect(process.output.hasPrefix("\(half) operations, "))
            #expect(!process.output.contains(", 0 deliveries"))
        }
        let check = try CacheStep("check-mixed", path)
        #expect(await check.exitCode() == 0, "\(check.output)")
        #expect(check.output.hasSuffix(" files of current responses\n"))
    }
}

/// A run of `CacheCrashStep`, which uses a cache in a process of its own.
final class CacheStep {
    private let process: ChildProcess
    private let folder: TemporaryDirectory
    private let file: URL

    /// Beside the tests, where the build puts it.
    static let executable = URL(fileURLWithPath: "/proc/self/exe")
        .resolvingSymlinksInPath().deletingLastPathComponent()
        .appendingPathComponent("CacheCrashStep")

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

    deinit { process.send(SIGKILL) }

    var output: String { String(decoding: (try? Data(contentsOf: file)) ?? Data(), as: UTF8.self) }

    func exitCode() async -> Int32? { await process.exitCode() }
}
