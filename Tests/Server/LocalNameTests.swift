import Foundation
import HalcyonPixels
import HalcyonServer
import HalcyonTestKit
import Testing

/// Names of files that mean something else in URLs.
@Suite struct LocalNameTests {
    private let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
        // Told apart by their widths.
        for (width, name) in [
            (11, "a?b.png"), (12, "a.png"), (13, "c.png"), (14, "c.png?v=2"), (15, "d?.png"),
            (16, "?"), (17, "e#f.png"), (18, "100%.png"), (19, "g%3Fh.png"), (20, "i?j/k?l.png"),
        ] { try folder.write(PNGFixture.solid(Pixel(1, 2, 3), width: width, height: 9), to: name) }
    }

    private func width(_ target: String, _ live: LiveServer) async throws -> Int {
        let answer = try await live.ask(target)
        guard answer.status == 200 else { return answer.status }
        return try answer.pixelSize.width
    }

    private func start() async throws -> LiveServer {
        try await LiveServer.start { $0.sources.local.root = folder.url.path }
    }

    @Test(arguments: [
        ("a%3Fb.png", 11), ("d%3F.png", 15), ("%3F", 16), ("i%3Fj/k%3Fl.png", 20),
        ("i%3fj%2Fk%3fl.png", 20),
        // A file of the whole name goes before a query, and that is ignored.
        ("c.png%3Fv=2", 14), ("c.png%3Fv=3", 13), ("a.png%3Fx%3Fy", 12), ("c.png?v=2", 13),
        ("a.png%3Fx=/../", 12), ("a.png?x", 12), ("z.png%3Fv", 404), ("%3Fa", 404),
        ("e%23f.png", 17), ("100%25.png", 18), ("g%253Fh.png", 19),
    ])
    func aFileIsFoundByItsName(name: String, width: Int) async throws {
        let live = try await start()
        #expect(try await self.width("/_/plain/local:///\(name)", live) == width)
        let typed = name.replacing("?v=2", with: "")
        if !name.contains("?") {
            #expect(try await self.width("/-/local:///\(typed)", live) == width)
        }
    }

    @Test func allFormsOfSourcesHaveThem() async throws {
        let live = try await start()
        func base64(_ text: String) -> String {
            Data(text.utf8).base64EncodedString().replacing("+", with: "-")
                .replacing("/", with: "_").replacing("=", with: "")
        }
        #expect(try await width("/_/" + base64("local:///a?b.png"), live) == 11)
        #expect(try await width("/_/" + base64("local:///c.png?v=9"), live) == 13)
        let path = ImageURL(source: "local:///a?b.png", form: .plain).path
        #expect(try await width("/_" + path, live) == 11)
        let info = try await live.ask("/info/_/plain/local:///a%3Fb.png")
        #expect(info.text.contains("\"width\":11"), "\(info.text)")
    }

    @Test func whatIsMadeOfThemIsPurgedByTheirNames() async throws {
        let live = try await start()
        for (field, value, name, width) in [
            ("source", "local:///a?b.png", "a%3Fb.png", 11),
            ("url", "/_/plain/local:///a%3Fb.png", "a%3Fb.png", 11),
            ("prefix", "local:///a?", "a%3Fb.png", 11),
            // By a query as without it.
            ("source", "local:///c.png?v=3", "c.png%3Fv=3", 13),
            ("url", "/_/plain/local:///c.png%3Fv=3", "c.png%3Fv=3", 13),
        ] {
            #expect(try await self.width("/_/plain/local:///\(name)", live) == width)
            #expect(try await live.purge(field, value) == .purged(1, 0))
        }
    }
}
