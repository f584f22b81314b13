import Foundation
import HalcyonTestKit
import Testing

@testable import HalcyonCLI

/// Drawings that are within all limits, but for the time that they take: nothing stops librsvg but the end of its
/// process.
@Suite(.timeLimit(.minutes(20)))
struct SlowDrawingProgramTests {
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
        (
            "many steps",
            filtered(String(repeating: "<feMorphology radius='9'/>", count: 200))
        ),
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
