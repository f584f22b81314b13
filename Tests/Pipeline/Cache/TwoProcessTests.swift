import Foundation
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
