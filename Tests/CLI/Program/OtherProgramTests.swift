import Foundation
import Halcyon
import HalcyonSamples
import HalcyonTestKit
import Testing

@testable import HalcyonCLI

@Suite(.timeLimit(.minutes(20))) struct InfoProgramTests {
    private let program: Program

    init() throws { program = try Program() }

    @Test func filesAndURLsAreTold() async throws {
        let png = PNGFixture.data(.gradient(width: 30, height: 20))
        let origin = try await OriginServer.start(files: ["/photo.png": png])
        try program.folder.write(png, to: "photo.png")
        let outcome = try await program.run(
            "info", "photo.png", origin.url("/photo.png").absoluteString, "--json", code: 0)
        let rows = try outcome.rows
        #expect(rows.count == 2)
        for row in rows {
            try row.expect([
                "format": "PNG", "width": 30, "height": 20, "frames": 1, "alpha": true,
                "complete": true,
            ])
        }
    }

    @Test func animationsAreToldInLines() async throws {
        let frames = [
            PixelGrid.quadrants(width: 30, height: 20), .solid(.red, width: 30, height: 20),
        ]
        .map { GIFFixture.Frame($0, delay: 25) }
        try program.folder.write(GIFFixture.data(frames, loopCount: 0), to: "turn.gif")
        let outcome = try await program.run("info", "turn.gif", code: 0)
        #expect(
            outcome.lines == ["turn.gif", "  GIF, 30×20, 8 bits", "  2 frames, 500 ms, for ever"])
    }

    @Test func whatCannotBeReadIsNamedAndTheRestIsTold() async throws {
        try program.folder.write(Data("no picture".utf8), to: "notes.txt")
        try program.folder.write(PNGFixture.data(.gradient(width: 3, height: 2)), to: "photo.png")
        let outcome = try await program.run(
            "info", "notes.txt", "photo.png", "missing.png", code: 1)
        #expect(outcome.output.contains("notes.txt: The data is not a known image: plain text"))
        #expect(outcome.output.contains("PNG, 3×2") && outcome.output.contains("missing.png: "))
    }
}

@Suite struct SamplePicturesTests {
    @Test func areFoundWhereAPackageInstallsThem() throws {
        let folder = try TemporaryDirectory(prefix: "halcyon-samples")
        let program = folder.file("usr/bin")
        #expect(throws: SamplePictures.Missing.self) { try SamplePictures(program: program) }
        let picture = PNGFixture.data(.gradient(width: 3, height: 2))
        for name in ["b.png", "a.png", "CREDITS.md", ".hidden"] {
            try folder.write(picture, to: "usr/share/halcyon/samples/\(name)")
        }
        let samples = try SamplePictures(program: program)
        #expect(samples.names == ["a.png", "b.png"])
        #expect(try samples.data("a.png") == picture)
    }
}

@Suite(.timeLimit(.minutes(20))) struct DemoProgramTests {
    @Test func drawsAContactSheetOfAllSamples() async throws {
        let program = try Program()
        let outcome = try await program.run("demo", "--output-directory", "out", code: 0)
        let samples = try SamplePictures()
        for name in samples.names { #expect(outcome.output.contains(name)) }
        let count = samples.names.count
        #expect(
            outcome.output.contains(
                "\(count * 3) loads at once made \(count) requests; "
                    + "\(count * 2) from disk and memory made 0."))
        #expect(outcome.output.contains("not cached."))
        let sheet = program.folder.file("out/contact-sheet.png")
        #expect(outcome.lines.last == "contact sheet: \(sheet.path)")
        let image = try Image.decoding(Data(contentsOf: sheet))
        let layout = ContactSheetLayout(tileCounts: [count, DemoVariant.all.count], columns: 8)
        #expect(image.pixelSize == PixelSize(width: layout.width, height: layout.height))
        // Nothing else is left.
        let names = try FileManager.default.contentsOfDirectory(atPath: program.folder.url.path)
        #expect(names.filter { !$0.hasPrefix(".") } == ["out"])
    }

    @Test func everyVariantIsOfASampleAndHasAProcessor() throws {
        let names = try SamplePictures().names
        for variant in DemoVariant.all {
            #expect(names.contains(variant.sample))
            _ = try ImageProcessorSpec.parse(variant.spec)
            #expect(variant.spec.count <= ContactSheetLayout.charactersPerLine)
        }
    }
}

@Suite(.timeLimit(.minutes(20))) struct TraceProgramTests: ProgramSuite {
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
            "load", url("a.png"), url("missing.png"), "--trace", "trace.json", "--json", code: 1
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

/// Drawings that are within all limits, but for the time that they take: nothing stops librsvg but the end of its
/// process.
@Suite(.timeLimit(.minutes(20))) struct SlowDrawingProgramTests {
    private static func svg(_ body: String, size: Int = 1000) -> Data {
        Data(
            """
            <svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" \
            width="\(size)" height="\(size)">\(body)</svg>
            """.utf8)
    }

    private static func filtered(_ steps: String, by use: String = "filter='url(#f)'") -> Data {
        svg("<filter id='f'>\(steps)</filter><rect width='999' height='999' \(use)/>")
    }

    static let drawings: [(name: String, data: Data)] = [
        ("many steps", filtered(String(repeating: "<feMorphology radius='9'/>", count: 200))),
        ("a wide step", filtered("<feMorphology radius='300'/>")),
        ("functions", filtered("", by: "filter='\(String(repeating: "blur(9px) ", count: 999))'")),
        ("much text", svg("<text>\(String(repeating: "abc ", count: 50_000))</text>")),
        (
            "large shapes",
            svg(
                "<defs><g id='g'>"
                    + String(
                        repeating: "<circle cx='999' cy='999' r='2000' fill-opacity='.1'/>",
                        count: 300)
                    + "</g></defs>" + String(repeating: "<use xlink:href='#g'/>", count: 300),
                size: 4000)
        ),
    ]

    @Test func aDrawingThatTakesTooLongCostsNothingButItsTime() async throws {
        let program = try Program()
        for (name, data) in Self.drawings {
            try data.write(to: program.folder.file("\(name).svg"))
        }
        let good = Self.svg("<rect width='999' height='999' fill='lime'/>")
        try good.write(to: program.folder.file("good.svg"))
        let slow = Self.drawings.map { "\($0.name).svg" }
        let outcome = try await program.run(
            ["load", "--json", "--decoding-timeout", "3", "good.svg"] + slow + ["good.svg"],
            code: 1)
        let rows = try outcome.rows
        try #require(rows.count == slow.count + 2)
        for row in [rows.first, rows.last] {
            #expect(row?["width"] as? Int == 1000 && row?["error"] == nil)
        }
        for (name, row) in zip(slow, rows.dropFirst()) {
            let message = row.error.message ?? ""
            #expect(message.contains("takes longer than the limit of 3 seconds"), "\(name): \(row)")
        }
    }
}
