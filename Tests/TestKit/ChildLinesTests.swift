import Glibc
import HalcyonTestKit
import Testing

@Suite struct ChildLinesTests {
    private func start(_ script: String) throws -> (child: ChildProcess, lines: ChildLines) {
        let input = open("/dev/null", O_RDONLY)
        defer { close(input) }
        return try ChildLines.of {
            try ChildProcess(
                executable: "/bin/sh", arguments: ["-c", script], standardInput: input,
                standardOutput: $0, standardError: $0)
        }
    }

    @Test func aLineIsThereWhileTheChildRuns() async throws {
        let (child, lines) = try start("echo one; echo number two >&2; exec sleep 1000")
        #expect(await lines.line(containing: "two") == "number two")
        #expect(lines.all == ["one", "number two"])
        #expect(child.isRunning)
        child.send(SIGKILL)
        #expect(await child.exitCode() == 137)
    }

    @Test func theEndOfTheChildEndsTheWaitForALine() async throws {
        let (child, lines) = try start("echo one; echo; printf three; exit 7")
        #expect(await lines.line(containing: "four") == nil)
        #expect(lines.all == ["one", "", "three"])
        #expect(await child.exitCode() == 7)
    }

    @Test func manyLinesComeInTheirOrder() async throws {
        let (_, lines) = try start("i=0; while [ $i -lt 3000 ]; do echo $i; i=$((i+1)); done")
        #expect(await lines.line(containing: "2999") == "2999")
        #expect(lines.all == (0..<3000).map { "\($0)" })
    }

    @Test func aProgramThatIsNotThereIsAnError() {
        #expect(throws: (any Error).self) {
            try ChildLines.of {
                try ChildProcess(
                    executable: "/no/such/program", arguments: [], standardInput: $0,
                    standardOutput: $0, standardError: $0)
            }
        }
    }
}
