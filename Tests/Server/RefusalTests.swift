import Foundation
import HalcyonServer
import HalcyonTestKit
import Logging
import Testing

/// What is refused, and how it is said.
@Suite struct RefusalTests {
    private static let keys = (
        ["736563726574", "0102030405060708"], ["68656c6c6f", "1112131415161718"]
    )

    private func signed(_ change: LiveServer.Change = { _ in }) async throws -> LiveServer {
        try await LiveServer.start {
            ($0.signature.keys, $0.signature.salts) = Self.keys
            $0.signature.isRequired = true
            try change(&$0)
        }
    }

    @Test func aPresetMayAllowLargerSources() async throws {
        let live = try await LiveServer.start {
            $0.limits.maxPixels = 100_000
            $0.processing.presets = ["large=msr:1"]
        }
        #expect(try await live.ask(.china("w:20")).status == 422)
        #expect(try await live.ask(.china("pr:large/w:20")).status == 200)
    }

    @Test func theMemoryOfDecodingIsLimited() async throws {
        #expect(ImageServerConfiguration().limits.maxDecodingBytes == 256 << 20)
        // 2 million pixels of 16 bits with opacity, all of which are asked for: 16 MB.
        let large = PNGFixture.data(.gradient(width: 2000, height: 1000), as: .rgba16)
        for (bytes, status) in [(4 << 20, 422), (256 << 20, 200)] {
            let live = try await LiveServer.start(files: ["large.png": large]) {
                $0.limits.maxDecodingBytes = bytes
            }
            let answer = try await live.ask("/_/bl:2/plain/local:///large.png")
            #expect(answer.status == status, "\(answer.text)")
            let rejected = try await live.metric("halcyon_rejected_total{reason=\"memory\"}")
            #expect(rejected == (status == 422 ? 1 : 0))
        }
    }

    @Test func aURLThatMayRaiseTheLimitOfBytesGetsLargerSources() async throws {
        let picture = try LiveServer.sample("china.jpg")
        let origin = try await OriginServer.start(files: ["/a.jpg": picture])
        let live = try await LiveServer.start(origin) {
            $0.limits.maxSourceBytes = 50_000
            $0.processing.allowsSecurityOptions = true
        }
        #expect(picture.count > 50_000)
        let sources = ["local:///china.jpg", origin.url("/a.jpg").absoluteString]
        let table = [
            ("w:20", 422), ("msfs:10000000/w:20", 200), ("msfs:60000/w:20", 422),
            ("msfs:0/w:21", 200),
            // Also when it is there already.
            ("w:20", 422), ("w:22", 422), ("raw:1", 403),
        ]
        for source in sources {
            for (options, status) in table {
                let answer = try await live.ask("/_/\(options)/plain/\(source)")
                #expect(answer.status == status, "\(options) \(source): \(answer.text)")
            }
        }
        let strict = try await LiveServer.start { $0.limits.maxSourceBytes = 50_000 }
        #expect(try await strict.ask(.china("msfs:60000")).status == 403)
        #expect(try await strict.ask(.china("msfs:40000")).status == 422)
    }

    @Test func onlySignedURLsAreAnswered() async throws {
        let live = try await signed { $0.limits.maxURLLength = 16_384 }
        let path = "/plain/local:///china.jpg"
        let right = LiveServer.signature
        #expect(try await live.ask("/\(right)\(path)").status == 200)
        let wrong = [
            "/\(right)=\(path)", "/\(right.dropLast())\(path)", "/\(right)/w:10\(path)",
            "/\(right)/plain/local:///flower.jpg", "/_\(path)", "/unsafe\(path)",
            "/\(String(repeating: "A", count: 10_240))\(path)", "/+/\(right)\(path)",
            "/\(right.replacing("-", with: "+"))\(path)", "/\(right)/\(path)", "/a=+/\(path)",
            "/oWaL7QoW5TsgbuiS9-5-DI8S3Ibbo1gdB2SteJh3a20\(path)",
        ]
        for target in wrong {
            let answer = try await live.ask(target)
            #expect(answer.status == 403, "\(target.prefix(80))")
            #expect(answer.text == "Forbidden\n" && answer["Cache-Control"] == "no-store")
        }
        let events = await live.loggedRequests(wrong.count + 1).filter { $0["status"] == "403" }
        #expect(events.count == wrong.count)
        #expect(events.allSatisfy { $0.level == .info && $0["code"] == "forbidden" })
    }

    @Test func theShortFormIsNotThereWhereURLsAreSigned() async throws {
        let live = try await signed()
        for target in ["/-/local:///china.jpg", "/info/-/plain/local:///china.jpg"] {
            #expect(try await live.outcome(target) == "404 invalid_path")
        }
    }

    @Test func everyPairOfKeysSigns() async throws {
        let live = try await signed()
        var second = ImageServerConfiguration()
        second.signature.keys = [Self.keys.0[1]]
        second.signature.salts = [Self.keys.1[1]]
        let target = try #require(second.sign("/w:20/plain/local:///china.jpg"))
        let first = try #require(live.server.sign("/w:20/plain/local:///china.jpg"))
        #expect(target != first)
        #expect(try await live.ask(target).status == 200)
        #expect(try await live.ask(first).status == 200)
        for index in [0, 1] {
            let name = "halcyon_signature_keys_total{index=\"\(index)\"}"
            #expect(try await live.metric(name) == 1)
        }
    }

    @Test func aTextOfAKindSaysNoMoreThanThatUnlessAskedFor() async throws {
        let path = "/w:-1/plain/local:///china.jpg"
        let brief = try await signed()
        let target = try #require(brief.server.sign(path))
        #expect(try await brief.ask(target).text == "Invalid URL\n")
        let full = try await signed { $0.http.errorBodies = .full }
        #expect(try await full.ask(target).text.hasPrefix("Invalid URL: "))
        let page = try await signed { $0.secret = "a" }
        #expect(try await page.ask(target).text == "Forbidden\n")
    }

    @Test func whereNothingIsSignedAFailureSaysWhichSettingToChange() async throws {
        let sources = try await LiveServer.start {
            $0.sources.local.root = nil
            $0.sources.http.allow = ["http://example.org"]
        }
        let limits = try await LiveServer.start {
            $0.limits.maxPixels = 1000
            $0.limits.maxURLLength = 64
        }
        let bytes = try await LiveServer.start { $0.limits.maxSourceBytes = 1000 }
        let guarded = try await LiveServer.start { $0.sources.http.allow = ["*"] }
        for (live, target, status, setting) in [
            (sources, "/_/plain/http://127.0.0.1/a.png", 404, "sources.http.allow"),
            (sources, "/_/plain/local:///a.png", 404, "sources.local.root"),
            (sources, "/_/plain/http://example.com:81/a.png", 404, "sources.http.ports"),
            (sources, "/_/plain/http://example.com/a.png", 404, "sources.http.allow"),
            (sources, "/_/plain/s3://a/b", 404, "sources.local.root"),
            (limits, .china(), 422, "limits.maxPixels"),
            (limits, "/_/w:1/" + String(repeating: "a", count: 99), 414, "limits.maxURLLength"),
            (limits, .china("raw:1"), 403, "processing.allowRaw"),
            (bytes, .china("w:1"), 422, "limits.maxSourceBytes"),
            (guarded, "/_/plain/http://127.0.0.1/a.png", 404, "sources.http.allowLoopback"),
        ] as [(LiveServer, String, Int, String)] {
            for accept in ["application/json", "text/plain"] {
                let answer = try await live.ask(target, fields: ["Accept": accept])
                #expect(answer.status == status && answer.text.contains(setting), "\(answer.text)")
            }
        }
    }

    @Test func linksAndFoldersAreNoSources() async throws {
        let folder = try TemporaryDirectory()
        let outside = try TemporaryDirectory()
        let picture = PNGFixture.solid(Pixel(1, 2, 3), width: 4, height: 4)
        let secret = try outside.write(picture, to: "secret.png")
        try folder.write(picture, to: "in/a.png")
        try folder.write(Data(), to: "empty.png")
        let files = FileManager.default
        try files.createSymbolicLink(at: folder.file("out.png"), withDestinationURL: secret)
        try files.createSymbolicLink(
            atPath: folder.file("link.png").path, withDestinationPath: "in/a.png")
        try files.createSymbolicLink(at: folder.file("far"), withDestinationURL: outside.url)

        let strict = try await LiveServer.start { $0.sources.local.root = folder.url.path }
        let lax = try await LiveServer.start {
            $0.sources.local.root = folder.url.path
            $0.sources.local.followsSymlinks = true
        }
        let table = [
            ("in/a.png", 200, 200), ("link.png", 404, 200), ("out.png", 404, 404),
            ("far/secret.png", 404, 404), ("in", 404, 404),
            ("empty.png", 422, 422), ("in/", 404, 404), ("in//a.png", 404, 404),
        ]
        for (path, status, laxStatus) in table {
            #expect(try await strict.ask("/_/plain/local:///\(path)").status == status, "\(path)")
            #expect(try await lax.ask("/_/plain/local:///\(path)").status == laxStatus, "\(path)")
        }
    }
}
