import Foundation
import HalcyonTestKit
import Testing

@testable import HalcyonCLI

@Suite(.timeLimit(.minutes(20))) struct PrefetchProgramTests: ProgramSuite {
    let program: Program
    let origin: OriginServer

    init() async throws { (program, origin) = try await Self.start() }

    /// Writes a list of `lines` into the program's folder.
    private func writeList(_ lines: [String]) throws {
        try program.folder.write(Data(lines.joined(separator: "\n").utf8), to: "list.txt")
    }

    private func statuses(_ rows: [[String: Any]]) -> [String?] {
        rows.dropLast().map { $0["status"] as? String }
    }

    @Test func bringsTheListOfAFileIntoTheCache() async throws {
        try program.folder.write(Pictures.png(width: 5, height: 5), to: "own.png")
        try writeList(["# birds", "", url("a.png"), "  \(url("b.gif"))\r", "own.png", ""])
        let outcome = try await program.run("prefetch", "list.txt", "--json", code: 0)
        let rows = try outcome.rows
        try #require(rows.count == 4)
        #expect(
            rows.dropLast().map { $0["source"] as? String } == [
                url("a.png"), url("b.gif"), "own.png",
            ])
        #expect(statuses(rows) == ["completed", "completed", "completed"])
        #expect(rows[0].count == 2)
        try rows[3].expect(["completed": 3, "skipped": 0, "failed": 0])
        #expect((rows[3]["milliseconds"] as? Double ?? -1) >= 0)
        let load = try await program.run("load", "--json", "--only-from-cache", url("b.gif"))
        try load.row.expect(["cacheType": "disk", "bytes": Pictures.gif.count])
        #expect(origin.requestCount == 2)
    }

    @Test func readsTheListFromStandardInputAndSkipsWhatIsCached() async throws {
        try writeList([url("a.png"), url("b.gif")])
        let arguments = ["prefetch", "-", "--json", "--cache-directory", "cache"]
        let script = #"exec "$0" "$@" <list.txt"#
        let first = try await program.run(arguments, script: script, code: 0)
        #expect(statuses(try first.rows) == ["completed", "completed"])
        #expect(origin.requestCount == 2)
        let second = try await program.run(arguments, script: script, code: 0)
        #expect(statuses(try second.rows) == ["skipped", "skipped"])
        #expect(try second.rows.last?["skipped"] as? Int == 2)
        #expect(origin.requestCount == 2)
        #expect(try names(in: "cache").count { $0.count == 64 } == 2)
    }

    @Test func forceRefreshSkipsNothing() async throws {
        try writeList([url("a.png")])
        _ = try await program.run("prefetch", "list.txt")
        let outcome = try await program.run("prefetch", "list.txt", "--json", "--force-refresh")
        #expect(statuses(try outcome.rows) == ["completed"])
        #expect(origin.requestCount == 2)
    }

    @Test func oneFailureDoesNotStopTheOthers() async throws {
        try writeList([url("a.png"), url("missing.png"), url("b.gif")])
        let outcome = try await program.run("prefetch", "list.txt", "--json", code: 1)
        #expect(statuses(try outcome.rows) == ["completed", "failed", "completed"])
        let rows = try outcome.rows
        #expect(rows.last?["failed"] as? Int == 1)
        // The code of an answer that is not accepted.
        #expect(rows.map { $0.error.code } == [nil, 2002, nil, nil])
        #expect(rows[1].error.message?.contains("404") == true)
        _ = try await program.run(
            "load", "--json", "--only-from-cache", url("a.png"), url("b.gif"), code: 0)
    }

    @Test func processedImagesAreThoseThatLoadFinds() async throws {
        try writeList([url("a.png")])
        let chain = ["--processor", "resize:20x10", "--processor", "bw"]
        _ = try await program.run(["prefetch", "list.txt"] + chain, code: 0)
        let load = try await program.run(
            ["load", "--json", "--only-from-cache", url("a.png")] + chain)
        try load.row.expect(["cacheType": "disk", "width": 20])
        let again = try await program.run(["prefetch", "list.txt", "--json"] + chain)
        #expect(statuses(try again.rows) == ["skipped"])
        #expect(origin.requestCount == 1)
    }

    @Test func rowsKeepTheOrderOfTheList() async throws {
        let gate = Gate()
        origin.route("/slow.png", .png(Pictures.png()).with(.wait(.gate(gate))))
        try writeList([url("slow.png"), url("missing.png"), url("a.png"), url("a.png")])
        let run = try program.start(["prefetch", "list.txt", "--json"])
        await origin.waitForRequests(1, path: "/a.png")
        gate.open()
        let rows = try await run.outcome().rows
        #expect(
            rows.dropLast().map { $0["source"] as? String } == [
                url("slow.png"), url("missing.png"), url("a.png"), url("a.png"),
            ])
        #expect(Array(statuses(rows).prefix(2)) == ["completed", "failed"])
        #expect(!statuses(rows).dropFirst(2).contains("failed"))
    }

    @Test(arguments: [
        ["prefetch", "list.txt"], ["load", "--timeout", "300", "/0", "/1", "/2", "/3"],
    ])
    func noMoreThanTheJobsRunAtATime(arguments: [String]) async throws {
        let gate = Gate()
        let paths = (0..<4).map { "/\($0)" }
        for path in paths { origin.route(path, .png(Pictures.png()).with(.wait(.gate(gate)))) }
        try writeList(paths.map(url))
        let run = try program.start(
            arguments.map { paths.contains($0) ? url($0) : $0 } + ["--json", "--jobs", "2"])
        await gate.waitForWaiters(2)
        gate.open()
        #expect(try await run.outcome().exitCode == 0)
        #expect(origin.peakConcurrentRequests == 2)
    }

    @Test(arguments: [
        ("ftp://example.org/a.png", "ftp"), ("http://", "valid URL"),
        ("data:image/png;base64,AA==", "data URI"),
    ])
    func aLineThatIsNoSourceIsNamedAndTheOthersAreLoaded(line: String, fault: String) async throws {
        try writeList([url("a.png"), "# comment", "", line, url("b.gif")])
        let outcome = try await program.run("prefetch", "list.txt", code: 1)
        let text = outcome.output + outcome.error
        #expect(text.contains("line 4") && text.contains(fault))
        #expect(origin.requestCount == 2)
    }

    @Test func aListThatCannotBeReadIsBadUsage() async throws {
        try program.folder.write(Pictures.png(), to: "a.png")
        for (file, fault) in [
            ("none.txt", "No such file or directory"), ("a.png", "it is no list of sources"),
        ] {
            let outcome = try await program.run("prefetch", file, code: 64)
            #expect(outcome.error.contains("\(file) cannot be read: \(fault)"))
        }
        let closed = try await program.run(
            ["prefetch", "-"], script: #"exec "$0" "$@" <&-"#, code: 64)
        #expect(closed.error.contains("standard input"))
    }

    @Test func anEmptyListIsDoneAtOnce() async throws {
        let outcome = try await program.run("prefetch", "-", "--json", code: 0)
        #expect(try outcome.rows.map { $0["completed"] as? Int } == [0])
    }

    @Test func peopleGetALinePerSourceAndASummary() async throws {
        try writeList([url("a.png"), url("missing.png")])
        let outcome = try await program.run("prefetch", "list.txt")
        let lines = outcome.lines
        try #require(lines.count == 3)
        #expect(lines[0] == "✓ \(url("a.png"))  completed")
        #expect(lines[1].hasPrefix("✗ \(url("missing.png"))  "))
        #expect(lines[1].contains("404") && lines[1].hasSuffix("(2002)"))
        #expect(lines[2].hasPrefix("2 images: 1 completed, 0 skipped, 1 failed in "))
        // No terminal: progress in lines.
        #expect(outcome.error.contains("[1/2]") && outcome.error.contains("[2/2]"))
        #expect(!outcome.error.contains("\u{1B}"))
        let quiet = try await program.run("prefetch", "--quiet", "list.txt", code: 1)
        #expect(quiet.output.isEmpty)
        #expect(quiet.error.contains("missing.png") && !quiet.error.contains("a.png"))
        #expect(quiet.error.contains("(2002)"))
    }

    @Test func ctrlCStopsThePrefetcher() async throws {
        origin.route("/held.png", .png(Pictures.png()).with(.hold(afterBytes: 40, .gate(Gate()))))
        try writeList([url("a.png"), url("held.png"), url("c.png")])
        let run = try program.start([
            "prefetch", "list.txt", "--json", "--jobs", "1", "--cache-directory", "cache",
        ])
        await origin.waitForRequests(1, path: "/held.png")
        run.send(SIGINT)
        let outcome = try await run.outcome()
        #expect(outcome.exitCode == 130)
        await origin.waitForAbandonedRequests(1)
        // With one at a time the first is done when the second is asked for; the third never is.
        #expect(try outcome.rows.map { $0["source"] as? String } == [url("a.png")])
        #expect(origin.requestCount(for: "/c.png") == 0)
    }

    @Test func aTerminalShowsABarAndIsLeftClean() async throws {
        let terminal = try PseudoTerminal(columns: 60)
        let gate = Gate()
        origin.route("/held.png", .png(Pictures.png()).with(.wait(.gate(gate))))
        try writeList([url("a.png"), url("held.png")])
        let run = try program.start(["prefetch", "list.txt"], error: terminal.handle)
        var seen = await terminal.text { $0.contains("1 of 2 images") }
        gate.open()
        #expect(try await run.outcome().exitCode == 0)
        seen += await terminal.text { $0.hasSuffix("\u{1B}[J") }
        #expect(seen.contains("━") && seen.contains("─"))
        #expect(seen.hasSuffix("\u{1B}[J"))
    }
}
