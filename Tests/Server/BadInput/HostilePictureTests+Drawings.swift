import Foundation
import HalcyonPixels
import HalcyonServer
import HalcyonTestKit
import Testing

/// SVG.
extension HostilePictureTests {
    private static func svg(
        _ content: String, size: String = "width=\"20\" height=\"20\"", head: String = ""
    ) -> Data {
        Data(
            """
            \(head)<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" \(size)>\
            \(content)</svg>
            """.utf8)
    }

    private static let laughs =
        "<!DOCTYPE svg [<!ENTITY a0 'ha'>"
        + (1...11).map { n in
            "<!ENTITY a\(n) '\(String(repeating: "&a\(n - 1);", count: 10))'>"
        }.joined() + "]>"

    private static let external = "<!ENTITY x SYSTEM 'file:///etc/passwd'>"

    private static func image(_ address: String) -> Data {
        svg("<image href=\"\(address)\" width=\"9\" height=\"9\"/>")
    }

    static let drawings: [Row] = [
        Row("a billion laughs", 200, 422) { svg("<text>&a11;</text>", head: laughs) },
        Row("an external entity", 200, 422) {
            svg("<text>&x;</text>", head: "<!DOCTYPE svg [\(external)]>")
        },
        Row("a picture of file:", 200, 422) { image("file:///etc/passwd") },
        Row("a picture of the addresses of clouds", 200, 422) {
            image("http://169.254.169.254/latest/meta-data/")
        },
        Row("10⁹ × 10⁹", 200, 422) {
            svg("<g/>", size: "width=\"1000000000\" height=\"1000000000\"")
        },
        Row("a view of 10⁹ × 10⁹", 200, 422) {
            svg("<g/>", size: "viewBox=\"0 0 1000000000 1000000000\"")
        },
        Row("no size", 200, 422) { svg("<rect width=\"9\" height=\"9\"/>", size: "") },
        Row("a script", 200) {
            svg("<script>while(true);</script><rect width=\"9\" height=\"9\"/>")
        },
        Row("100,000 nodes", 200, 422) { svg(String(repeating: "<g/>", count: 100_000)) },
        Row("100,000 levels", 200, 422) {
            svg(["<g>", "</g>"].map { String(repeating: $0, count: 100_000) }.joined())
        },
        Row("a foreign object", 200, 422) { svg("<foreignObject><p>hello</p></foreignObject>") },
        Row("what uses itself", 200, 422) { svg("<g id=\"u\"><use xlink:href=\"#u\"/></g>") },
    ]

    @Test(arguments: drawings) func aDrawingThatIsWrongIsDrawnOrRefused(row: Row) async throws {
        try await expect(row, as: "a.svg")
    }

    @Test func aDrawingAsksNobodyForItsPictures() async throws {
        let origin = try await OriginServer.start(files: ["/a.png": PNGFixture.green])
        let inner = origin.url("/a.png").absoluteString
        let drawing = Self.svg(
            "<image href=\"\(inner)\" width=\"9\" height=\"9\"/>"
                + "<image xlink:href=\"\(inner)\" width=\"9\" height=\"9\"/>"
                + "<style>@import url(\(inner)); rect { fill: url(\(inner)) }</style>"
                + "<rect width=\"9\" height=\"9\"/>")
        let live = try await LiveServer.start(files: ["a.svg": drawing])
        #expect(try await [200, 422].contains(live.ask("/_/w:20/plain/local:///a.svg@png").status))
        #expect(origin.connectionCount == 0)
    }
}
