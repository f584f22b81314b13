import Foundation
import HalcyonPixels
import HalcyonServer
import HalcyonTestKit
import HalcyonWork
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

    /// Writes pictures to files whose names are not text, or have backslashes; told apart by their widths.
    private func writeNamesOfBytes() throws {
        let root = try #require(FilePath(bytes: folder.url.path.utf8))
        let inner = root.appending([0xFC])
        #expect(inner.withCString { mkdir($0, 0o700) } == 0)
        for (width, path) in [
            (31, root.appending(Array("caf".utf8) + [0xE9] + Array(".png".utf8))),
            (32, root.appending("caf%E9.png".utf8)), (33, root.appending("d\\e.png".utf8)),
            (34, inner.appending(Array("é\\".utf8) + [0xE9] + Array(".png".utf8))),
        ] {
            let descriptor = path.withCString { open($0, O_WRONLY | O_CREAT, 0o600) }
            try #require(descriptor >= 0)
            try FileHandle(fileDescriptor: descriptor, closeOnDealloc: true).write(
                contentsOf: PNGFixture.solid(Pixel(1, 2, 3), width: width, height: 9))
        }
    }

    @Test(arguments: [false, true])
    func aFileIsFoundByTheBytesOfItsName(followsSymlinks: Bool) async throws {
        try writeNamesOfBytes()
        let live = try await LiveServer.start {
            $0.sources.local.root = folder.url.path
            $0.sources.local.followsSymlinks = followsSymlinks
        }
        for (name, width) in [
            ("caf%E9.png", 31), ("caf%e9.png", 31), ("caf%25E9.png", 32), ("d%5Ce.png", 33),
            ("%FC/%C3%A9%5C%E9.png", 34), ("%FC%2F%C3%A9%5c%E9.png", 34), ("caf%E9.png%3Fv=2", 31),
            ("caf%E8.png", 404), ("%FC/..%2Fcaf%E9.png", 404), ("%FC%5C..%5Ccaf%E9.png", 404),
            ("..%5Cd%5Ce.png", 404), ("%FC", 404),
        ] {
            for _ in 0..<2 {
                #expect(try await self.width("/_/plain/local:///\(name)", live) == width, "\(name)")
            }
            #expect(try await self.width("/-/local:///\(name)", live) == width, "\(name)")
        }
        let info = try await live.ask("/info/_/plain/local:///caf%E9.png")
        #expect(info.text.contains("\"width\":31"), "\(info.text)")
    }

    @Test func suchFilesAreThereByIIIF() async throws {
        try writeNamesOfBytes()
        let live = try await LiveServer.start { $0.serveIIIF(folder.url.path) }
        for (name, width) in [
            ("caf%E9.png", 31), ("caf%E9", 31), ("caf%25E9", 32), ("d%5Ce.png", 33),
            ("%FC%2F%C3%A9%5C%E9", 34), ("%FC%5C%C3%A9%5C%E9", 404), ("..%5Cd%5Ce.png", 404),
        ] {
            let target = "/iiif/3/\(name)/full/max/0/default.png"
            #expect(try await self.width(target, live) == width, "\(name)")
        }
        let document = try await live.ask("/iiif/3/caf%e9.png/info.json").json
        #expect(document["id"] as? String == "http://127.0.0.1:\(live.port)/iiif/3/caf%E9.png")
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
        try writeNamesOfBytes()
        let live = try await start()
        for (field, value, name, width) in [
            ("source", "local:///a?b.png", "a%3Fb.png", 11),
            ("url", "/_/plain/local:///a%3Fb.png", "a%3Fb.png", 11),
            ("prefix", "local:///a?", "a%3Fb.png", 11),
            // By a query as without it.
            ("source", "local:///c.png?v=3", "c.png%3Fv=3", 13),
            ("url", "/_/plain/local:///caf%E9.png", "caf%E9.png", 31),
            ("source", "local:///caf%E9.png", "caf%25E9.png", 32),
            ("source", "local:///caf%E9.png", "caf%E9.png", 31),
            ("prefix", "local:///caf%E9", "caf%E9.png", 31),
            // As JSON has it.
            ("source", "local:///d\\\\e.png", "d%5Ce.png", 33),
            ("url", "/_/plain/local:///c.png%3Fv=3", "c.png%3Fv=3", 13),
        ] {
            #expect(try await self.width("/_/plain/local:///\(name)", live) == width)
            #expect(try await live.purge(field, value) == .purged(1, 0))
        }
    }
}
