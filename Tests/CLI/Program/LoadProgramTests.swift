import Foundation
import Halcyon
import HalcyonTestKit
import Testing

@testable import HalcyonCLI

@Suite(.timeLimit(.minutes(20))) struct LoadProgramTests: ProgramSuite {
    let program: Program
    let origin: OriginServer

    init() async throws { (program, origin) = try await Self.start() }

    @Test func tellsWhatWasLoaded() async throws {
        let outcome = try await program.run("load", "--json", url("a.png"), url("b.gif"), code: 0)
        let rows = try outcome.rows
        try #require(rows.count == 2)
        try rows[0].expect([
            "source": url("a.png"), "cacheKey": url("a.png"), "cacheType": "none",
            "format": "PNG", "width": 40, "height": 30, "frames": 1,
            "bytes": Pictures.png().count, "output": NSNull(),
        ])
        #expect((rows[0]["milliseconds"] as? Double ?? -1) > 0)
        try rows[1].expect(["frames": 2, "bytes": Pictures.gif.count])
    }

    /// Libraries have more to say of damaged files than anybody wants to read, depending on the place: Debian's
    /// libjxl explains what it finds on the standard error stream.
    @Test(arguments: [ImageFormat.JPEGXL, .AVIF])
    func codecsWriteNothingToStandardError(_ format: ImageFormat) async throws {
        let noise = PNGFixture.data(.noise(width: 90, height: 70))
        let image = try #require(Image(data: noise))
        let whole = try image.kf.data(format: format, options: ImageEncodingOptions())
        for part in format == .JPEGXL ? 2...7 : 7...7 {
            var data = whole
            let start = data.count * part / 8
            if part < 7 {
                for place in start..<min(start + 40, data.count) { data[place] ^= 0x5A }
            } else {
                for place in stride(from: data.count / 2, to: data.count, by: 5) {
                    data[place] ^= 0xA5
                }
                data.removeLast(data.count / 4)
            }
            try data.write(to: program.folder.file("damaged\(part)"))
            let outcome = try await program.run("load", "--json", "damaged\(part)")
            #expect(part < 7 || outcome.exitCode == 1)
            #expect(outcome.error.split(separator: "\n").allSatisfy { $0.hasPrefix("[1/1]") })
        }
    }

    @Test(arguments: [nil, "cache"])
    func withResumeTheNextRunLoadsTheRest(cache: String?) async throws {
        let picture = PNGFixture.data(.noise(width: 400, height: 300))
        let response = OriginResponse.png(picture).with(.ranges, .entityTag("\"one\""))
        let half = picture.count / 2
        let arguments =
            ["load", "--json", "--resume", url("half.png")]
            + (cache.map { ["--cache-directory", $0] } ?? [])
        origin.route("/half.png", response.with(.breakOff(afterBytes: half, .close)))
        #expect(try await program.run(arguments).exitCode == 1)
        origin.route("/half.png", response)
        let outcome = try await program.run(arguments, code: 0)
        #expect(try outcome.rows.first?["bytes"] as? Int == picture.count)
        #expect(
            origin.requests(for: "/half.png").map { $0.headers["Range"] }
                == [nil, "bytes=\(half)-"])
    }

    @Test func theSecondRunReadsTheDiskAndSendsNoRequest() async throws {
        let arguments = ["load", "--json", "--cache-directory", "c", url("a.png"), url("b.gif")]
        _ = try await program.run(arguments)
        #expect(origin.requestCount == 2)
        let second = try await program.run(arguments, code: 0)
        let rows = try second.rows
        #expect(rows.map { $0["cacheType"] as? String } == ["disk", "disk"])
        #expect(rows.map { $0["bytes"] as? Int } == [Pictures.png().count, Pictures.gif.count])
        #expect(origin.requestCount == 2)
        // The folder itself, not one in it.
        #expect(try names(in: "c").count { $0.count == 64 } == 2)
    }

    @Test func aProcessedImageIsReadFromDiskToo() async throws {
        let arguments = ["load", "--json", url("a.png"), "--processor", "resize:20x10"]
        let first = try await program.run(arguments)
        #expect(try first.rows.first?["width"] as? Int == 20)
        let second = try await program.run(arguments)
        #expect(try second.rows.first?["cacheType"] as? String == "disk")
        #expect(try second.rows.first?["height"] as? Int == 10)
        let other = try await program.run("load", "--json", url("a.png"), "--processor", "bw")
        #expect(try other.rows.first?["cacheType"] as? String == "none")
        #expect(origin.requestCount == 1)
    }

    @Test func forceRefreshLoadsAgain() async throws {
        _ = try await program.run("load", url("a.png"))
        let outcome = try await program.run("load", "--json", "--force-refresh", url("a.png"))
        #expect(try outcome.rows.first?["cacheType"] as? String == "none")
        #expect(origin.requestCount == 2)
    }

    @Test func oneFailureDoesNotStopTheOthers() async throws {
        origin.route("/page.png", .html())
        let outcome = try await program.run(
            "load", "--json", url("missing.png"), url("a.png"), url("page.png"), "nowhere.png",
            "ftp://x/y", code: 1)
        let rows = try outcome.rows
        #expect(rows.map { $0.error.code } == [2002, nil, 4001, 5003, 1002])
        #expect(rows.map { $0["width"] as? Int } == [nil, 40, nil, nil, nil])
    }

    @Test func rowsKeepTheOrderOfTheSources() async throws {
        let gate = Gate()
        origin.route("/slow.png", .png(Pictures.png(width: 8, height: 8)).with(.wait(.gate(gate))))
        let run = try program.start(
            ["load", "--json", "--timeout", "300", url("slow.png"), url("a.png")])
        await origin.waitForRequests(1, path: "/a.png")
        gate.open()
        #expect(try await run.outcome().rows.map { $0["width"] as? Int } == [8, 40])
    }

    @Test func aDataURIHasAShortKey() async throws {
        let uri = "data:image/png;base64,\(Pictures.png().base64EncodedString())"
        let row = try await program.run("load", "--json", uri).row
        #expect(row["source"] as? String == uri)
        #expect((row["cacheKey"] as? String)?.hasPrefix("data:sha256:") == true)
        let drawing = "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='7'/>"
        let encoded = try #require(
            drawing.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
        let svg = try await program.run("load", "--json", "data:image/svg+xml,\(encoded)")
        try svg.row.expect(["width": 9, "format": "SVG"])
    }

    @Test func theLimitOfMemoryIsKeptAndTold() async throws {
        // 1000 × 400 pixels of 3 bytes.
        origin.route("/large.png", .png(Pictures.png(width: 1000, height: 400)))
        let error = try await program.run("load", "--json", "--max-memory", "1", url("large.png"))
            .row.error
        #expect(error.code == 4001 && error.message?.contains("the limit is 1 MiB") == true)
        _ = try await program.run("load", "--json", "--max-memory", "9", url("large.png"), code: 0)
    }

    @Test func aSilentServerIsGivenUp() async throws {
        origin.route("/silent.png", .png(Pictures.png()).with(.wait(.gate(Gate()))))
        let outcome = try await program.run("load", "--json", "--timeout", "0.2", url("silent.png"))
        #expect(try outcome.row.error.code == 2003)
    }

    @Test func peopleGetALinePerSourceAndASummary() async throws {
        let outcome = try await program.run("load", url("a.png"), url("missing.png"), code: 1)
        let lines = outcome.lines
        try #require(lines.count == 3)
        #expect(lines[0].contains(url("a.png")) && lines[0].contains("40×30 PNG"))
        #expect(lines[1].contains(url("missing.png")) && lines[1].contains("2002"))
        #expect(lines[2].hasPrefix("1 image (1 loaded), 1 failed"))
        // No terminal: progress in lines.
        #expect(outcome.error.contains("[1/2]") && outcome.error.contains("[2/2]"))
        #expect(!outcome.error.contains("\u{1B}"))
    }

    @Test func quietTellsOfFailuresOnly() async throws {
        let outcome = try await program.run(
            "load", "--quiet", url("a.png"), url("missing.png"), code: 1)
        #expect(outcome.output.isEmpty)
        #expect(outcome.error.contains("missing.png") && !outcome.error.contains("a.png"))
        let json = try await program.run("load", "-q", "--json", url("a.png"))
        #expect(try json.rows.count == 1)
        #expect(json.error.isEmpty)
    }
}
