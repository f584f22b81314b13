import Foundation
import HalcyonTestKit
import Testing

@testable import HalcyonCLI

/// What the program makes of signals, pipes and terminals.
@Suite(.timeLimit(.minutes(20))) struct StreamProgramTests: ProgramSuite {
    let program: Program
    let origin: OriginServer

    init() async throws { (program, origin) = try await Self.start() }

    @Test(arguments: [SIGINT, SIGTERM])
    func aSignalStopsTheDownloadAndLeavesNoFile(signal: Int32) async throws {
        origin.route("/held.png", .png(Pictures.png()).with(.hold(afterBytes: 40, .gate(Gate()))))
        let run = try program.start([
            "load", url("held.png"), url("a.png"), "--output-directory", "out",
            "--cache-directory", "cache",
        ])
        await origin.waitForRequests(1, path: "/held.png")
        run.send(signal)
        let outcome = try await run.outcome()
        #expect(outcome.exitCode == 128 + signal)
        await origin.waitForAbandonedRequests(1)
        // The folder is made with the first output, which may have been written already.
        #expect(((try? names(in: "out")) ?? []).filter { $0 != "a.png" } == [])
    }

    @Test(arguments: [["--json"], ["--output", "-"]])
    func aClosedPipeEndsTheProgramQuietly(options: [String]) async throws {
        let pipe = Pipe()
        try pipe.fileHandleForReading.close()
        let run = try program.start(
            ["load", url("a.png")] + options, output: pipe.fileHandleForWriting)
        let outcome = try await run.outcome()
        #expect(outcome.exitCode == 128 + SIGPIPE && !outcome.error.lowercased().contains("fatal"))
    }

    @Test func aClosedStandardInputIsNoMatter() async throws {
        let outcome = try await program.run(
            ["load", "--json", url("a.png")], script: #"exec "$0" "$@" <&-"#)
        #expect(try outcome.exitCode == 0 && outcome.row["width"] as? Int == 40)
    }

    @Test func aClosedStandardOutputIsAnErrorAndSpoilsNoFile() async throws {
        let outcome = try await program.run(
            ["load", "--json", url("a.png"), "--output", "a.webp"], script: #"exec "$0" "$@" >&-"#)
        #expect(outcome.exitCode != 0)
        _ = try await program.run("load", "--json", "--only-from-cache", url("a.png"), code: 0)
    }

    @Test(arguments: [
        ["load", "--json", "URL"], ["load", "URL"], ["cache", "path"], ["cache", "info"],
        ["prefetch", "list.txt", "--json"], ["formats"], ["--version"], ["load", "--help"],
        ["cache", "responses"], ["info", "a.png"], ["load", "URL", "--output", "-", "--quiet"],
    ])
    func outputThatIsLostIsToldOf(arguments: [String]) async throws {
        try program.folder.write(Data(url("a.png").utf8), to: "list.txt")
        try program.folder.write(Pictures.png(), to: "a.png")
        let arguments = arguments.map { $0 == "URL" ? url("a.png") : $0 }
        let outcome = try await program.run(
            arguments, script: #"exec "$0" "$@" >/dev/full"#, code: 1)
        let reason = "halcyon: Standard output cannot be written: No space left on device\n"
        #expect(outcome.error.hasSuffix(reason), "\(outcome.error)")
    }

    @Test(arguments: 1...4)
    func aSignalEndsTheProgramWellWhileItsThreadsWork(round: Int) async throws {
        let picture = PNGFixture.data(.gradient(width: 1600, height: 1200))
        let paths = (0..<8).map { "/large\($0).png" }
        for path in paths { origin.route(path, .png(picture)) }
        // The last one never comes, so that the program does not end before the signal.
        origin.route(paths[7], .png(picture).with(.wait(.gate(Gate()))))
        let run = try program.start(
            ["load"] + paths.map(url) + ["--output-directory", "out", "--format", "webp"])
        await origin.waitForRequests(1, path: paths[round])
        run.send(SIGINT)
        let outcome = try await run.outcome()
        #expect(outcome.exitCode == 130 && !outcome.error.localizedCaseInsensitiveContains("crash"))
    }

    // MARK: Terminals

    /// What a terminal shows of a load that waits in the midst of a picture until it is told how to `end`.
    private func screen(
        environment: [String: String] = [:], end: (Program.Run, Gate) -> Void
    ) async throws -> (text: String, outcome: Program.Outcome) {
        let terminal = try PseudoTerminal(columns: 60)
        let gate = Gate()
        let body = Pictures.png(width: 100, height: 100)
        origin.route("/held.png", .png(body).with(.hold(afterBytes: body.count / 2, .gate(gate))))
        let run = try program.start(
            ["load", "--timeout", "300", url("held.png")], environment: environment,
            error: terminal.handle)
        var text = await terminal.text { $0.contains("50%") && $0.contains("held.png") }
        end(run, gate)
        let outcome = try await run.outcome()
        // The last thing written is the sequence that erases the lines.
        text += await terminal.text { $0.hasSuffix("\u{1B}[J") }
        return (text, outcome)
    }

    @Test func aTerminalShowsProgressAndIsLeftClean() async throws {
        let (text, outcome) = try await screen { $1.open() }
        #expect(outcome.exitCode == 0 && outcome.lines.first?.contains("100×100") == true)
        #expect(text.contains("━") && text.contains("\u{1B}[36m"))
        #expect(text.hasSuffix("\u{1B}[J"))
    }

    @Test func noColourOnATerminalThatWantsNone() async throws {
        let (text, _) = try await screen(environment: ["NO_COLOR": "1"]) { $1.open() }
        #expect(text.contains("━") && !text.contains("\u{1B}[3"))
    }

    @Test func anInterruptedTerminalIsLeftClean() async throws {
        let (text, outcome) = try await screen { run, _ in run.send(SIGINT) }
        #expect(outcome.exitCode == 130)
        #expect(text.hasSuffix("\u{1B}[J"))
    }
}
