import Foundation
import HalcyonTestKit
import Testing

@testable import HalcyonCLI

@Suite(.timeLimit(.minutes(20)))
struct TraceProgramTests: ProgramSuite {
    let program: Program
    let origin: OriginServer

    init() async throws { (program, origin) = try await Self.start() }

    private func spans(in file: String) throws -> [[String: Any]] {
        let data = try Data(contentsOf: program.folder.file(file))
        let object = try JSONSerialization.jsonObject(with: data) as? [String: Any]
        return try #require(object?["traceEvents"] as? [[String: Any]])
    }

    private func names(_ events: [[String: Any]], _ phase: String) -> [String] {
        events.filter { $0["ph"] as? String == phase }.compactMap { $0["name"] as? String }
    }

    @Test func aDownloadIsDrawnAsSpans() async throws {
        _ = try await program.run("load", url("a.png"), "--trace", "trace.json", "--quiet", code: 0)
        let events = try spans(in: "trace.json")
        let spans = Set(names(events, "X"))
        #expect(
            spans.isSuperset(of: [
                "request", "look up", "transfer", "answer", "body", "wait for a thread", "process",
                "decode", "store on disk",
            ]))
        #expect(Set(names(events, "i")) == ["stored in memory"])
        let request = try #require(events.first { $0["name"] as? String == "request" })
        let (start, length) = (
            try #require(request["ts"] as? Double), try #require(request["dur"] as? Double)
        )
        // Nobody waits for the disk.
        for event in events
        where event["ph"] as? String == "X" && event["name"] as? String != "store on disk" {
            let (at, lasts) = (event["ts"] as? Double ?? -1, event["dur"] as? Double ?? -1)
            #expect(at >= start - 1 && lasts >= 0 && at + lasts <= start + length + 1)
        }
    }

    @Test func everySourceHasItsLineAndFailuresAreNamed() async throws {
        _ = try await program.run(
            "load", url("a.png"), url("missing.png"), "--trace", "trace.json", "--json", exitCode: 1
        )
        let events = try spans(in: "trace.json")
        #expect(names(events, "M").count == 2)
        let requests = events.filter { $0["name"] as? String == "request" }
        #expect(Set(requests.compactMap { $0["tid"] as? Int }) == [1, 2])
        #expect(requests.contains { ($0["args"] as? [String: Any])?["error"] != nil })
    }

    @Test func aTraceThatCannotBeWrittenIsNamed() async throws {
        let outcome = try await program.run(
            "load", url("a.png"), "--trace", "missing/trace.json", code: 1)
        #expect(outcome.error.contains("missing/trace.json"))
    }
}
