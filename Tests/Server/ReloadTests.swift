import Foundation
import HalcyonPixels
import HalcyonServer
import HalcyonTestKit
import Testing

/// What a running server is told anew.
@Suite struct ReloadTests {
    private let picture = PNGFixture.green

    @Test func keysPresetsAndListsAreTakenWhileTheServerRuns() async throws {
        let origin = try await OriginServer.start(files: ["/a.png": picture])
        let live = try await LiveServer.start {
            $0.sources.http.allow = ["http://example.com"]
            $0.sources.http.allowsLoopback = true
            $0.processing.presets = ["small=w:5"]
        }
        let target = origin.target("/a.png", "pr:tiny")
        #expect(try await live.ask(target).status == 404)
        var new = live.server.configuration
        new.sources.http.allow = ["http://127.0.0.1:*"]
        new.sources.http.ports = [origin.port]
        new.processing.presets = ["tiny=w:2"]
        #expect(try live.server.reload(new) == [])
        #expect(try await live.ask(target).status == 200)
        #expect(try await live.ask(.china("pr:small")).status == 404)
        // What was allowed is kept, and not given to anybody any more.
        new.sources.http.allow = ["http://example.com"]
        _ = try live.server.reload(new)
        #expect(try await live.ask(target).status == 404)
    }

    @Test(arguments: [false, true]) func foldersAreOpenedAnew(followsSymlinks: Bool) async throws {
        let folder = try TemporaryDirectory()
        let names = ["sources", "pictures"]
        func make(_ width: Int, suffix: String = "") throws {
            for name in names {
                try folder.write(
                    PNGFixture.solid(Pixel(1, 2, 3), width: width, height: 9),
                    to: "\(name)\(suffix)/a.png")
            }
        }
        try make(30)
        let live = try await LiveServer.start {
            $0.sources.local.root = folder.file("sources").path
            $0.sources.local.followsSymlinks = followsSymlinks
            $0.serveIIIF(folder.file("pictures").path)
        }
        func widths() async throws -> [Int] {
            var widths: [Int] = []
            for target in ["/_/plain/local:///a.png", "/iiif/3/a/full/max/0/default.png"] {
                widths.append(try Image.decoding(try await live.ask(target).body).pixelSize.width)
            }
            return widths
        }
        #expect(try await widths() == [30, 30])
        for name in names {
            #expect(rename(folder.file(name).path, folder.file("\(name)-old").path) == 0)
        }
        try make(50)
        #expect(try live.server.reload(live.server.configuration) == [])
        #expect(try await widths() == [50, 50])
        // A folder that is gone leaves the one that is open.
        try FileManager.default.removeItem(at: folder.file("sources"))
        #expect(throws: ConfigurationError.self) {
            try live.server.reload(live.server.configuration)
        }
    }

    @Test func whatMakesNoSenseChangesNothing() async throws {
        let live = try await LiveServer.start { $0.processing.presets = ["small=w:5"] }
        var wrong = live.server.configuration
        wrong.processing.presets = ["tiny=w:2", "small=nothing:1"]
        #expect(throws: ConfigurationError.self) { try live.server.reload(wrong) }
        #expect(try await live.ask(.china("pr:small")).status == 200)
        var other = live.server.configuration
        other.limits.maxPixels = 1
        other.log.level = .error
        #expect(try live.server.reload(other) == ["limits.maxPixels", "log.level"])
        #expect(try await live.ask("/_/pr:small/plain/local:///chelsea.png").status == 200)
    }

    @Test func keysMayBeInAFileOfTheirOwn() async throws {
        let folder = try TemporaryDirectory()
        let file = try folder.write(
            Data("# the present one\n736563726574 68656c6c6f\n\n".utf8), to: "keys")
        let live = try await LiveServer.start {
            $0.signature.isRequired = true
            $0.signature.keysFile = file.path
        }
        let path = "/plain/local:///china.jpg"
        let target = "/\(LiveServer.signature)\(path)"
        #expect(try await live.ask(target).status == 200)
        #expect(live.server.sign(path) == target)
        #expect(live.server.configuration.sign(path) == target)
        // A new key first, the former one behind it; then that is taken away.
        func reload(_ keys: String) throws {
            try folder.write(Data(keys.utf8), to: "keys")
            _ = try live.server.reload(live.server.configuration)
        }
        try reload("0102030405060708 1112131415161718\n736563726574 68656c6c6f")
        let fresh = try #require(live.server.sign(path))
        #expect(fresh != target)
        for known in [fresh, target] { #expect(try await live.ask(known).status == 200) }
        try reload("0102030405060708 1112131415161718")
        #expect(try await live.ask(target).status == 403)
        #expect(try await live.ask(fresh).status == 200)
        #expect(throws: ConfigurationError.self) { try reload("0102030405060708") }
    }
}
