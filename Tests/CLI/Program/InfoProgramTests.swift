import Foundation
import HalcyonTestKit
import Testing

@testable import HalcyonCLI

@Suite(.timeLimit(.minutes(20)))
struct InfoProgramTests {
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
        #expect(outcome.output.contains("PNG, 3×2"))
        #expect(outcome.output.contains("missing.png: "))
    }
}
