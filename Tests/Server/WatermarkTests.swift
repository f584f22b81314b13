import Foundation
import Halcyon
import HalcyonPixels
import HalcyonServer
import HalcyonTestKit
import Testing

/// The operator's watermark, and the picture that stands in for others.
@Suite struct WatermarkTests {
    private let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
        try folder.write(PNGFixture.solid(.blue, width: 40, height: 20), to: "pictures/a.png")
        try folder.write(PNGFixture.solid(.red, width: 8, height: 4), to: "mark.png")
    }

    private var mark: String { folder.file("mark.png").path }

    private func start(_ change: LiveServer.Change = { _ in }) async throws -> LiveServer {
        try await LiveServer.start {
            $0.sources.local.root = folder.file("pictures").path
            $0.watermark.picture.path = mark
            try change(&$0)
        }
    }

    /// Where red is, as left, top, right and bottom, and how many pixels are.
    private func red(_ answer: LiveServer.Answer) throws -> [Int] {
        let bitmap = try Image.decoding(answer.body).bitmap()
        let bytes = bitmap.data
        var (xs, ys): ([Int], [Int]) = ([], [])
        for pixel in 0..<bitmap.size.pixelCount where bytes[pixel * bitmap.channels] > 100 {
            xs.append(pixel % bitmap.size.width)
            ys.append(pixel / bitmap.size.width)
        }
        return [xs.min() ?? -1, ys.min() ?? -1, xs.max() ?? -1, ys.max() ?? -1, xs.count]
    }

    @Test(arguments: [
        ("wm:1", [16, 8, 23, 11, 32]), ("wm:1:nowe", [0, 0, 7, 3, 32]),
        ("wm:1:soea", [32, 16, 39, 19, 32]), ("wm:1:soea:2:3", [30, 13, 37, 16, 32]),
        ("wm:1:nowe:-4:0", [0, 0, 3, 3, 16]), ("wm:1:nowe:-100:-100", [0, 0, 0, 0, 1]),
        ("wm:1:no:0:0:0.5", [10, 0, 29, 9, 200]), ("wm:1:nowe:0.5:0.5", [20, 10, 27, 13, 32]),
        ("wm:1:nowe:2:2/w:80/el:1/dpr:2", [4, 4, 11, 7, 32]),
        ("wm:1:re", [0, 0, 39, 19, 800]), ("wm:0", [-1, -1, -1, -1, 0]),
    ])
    func aWatermarkLiesWhereTheURLSays(option: String, expected: [Int]) async throws {
        let live = try await start()
        let answer = try await live.ask("/_/\(option)/plain/local:///a.png")
        #expect(answer.status == 200, "\(answer.text)")
        #expect(try red(answer) == expected)
    }

    @Test func aTiledWatermarkHasGaps() async throws {
        let live = try await start()
        let answer = try await live.ask("/_/wm:1:re:2:1/plain/local:///a.png")
        // Tiles of 10 × 5 with the mark in the middle: four of them side by side, and as many above.
        #expect(try red(answer)[4] == 16 * 32)
    }

    @Test func opacitiesOfURLAndServerAreMultiplied() async throws {
        let live = try await start { $0.watermark.opacity = 0.5 }
        let answer = try await live.ask("/_/wm:0.5/plain/local:///a.png")
        let bitmap = try Image.decoding(answer.body).bitmap()
        let middle = (10 * 40 + 20) * bitmap.channels
        #expect(abs(Int(bitmap.data[middle]) - 64) <= 1)
        #expect(abs(Int(bitmap.data[middle + 2]) - 191) <= 1)
    }

    @Test func aWatermarkIsOnEachFrameOfAnAnimation() async throws {
        let live = try await start { $0.sources.local.root = LiveServer.samples }
        let answer = try await live.ask("/_/w:80/wm:1:nowe/plain/local:///kingfisher.gif@webp")
        let image = try Image.decoding(answer.body)
        #expect(image.frameCount > 2)
        for frame in [0, image.frameCount - 1] {
            let pixels = try image.bitmap(frame: frame).data
            #expect(pixels[0] > 200 && pixels[1] < 80, "\(frame)")
        }
    }

    @Test func aWatermarkOfAnotherServerIsASourceLikeOthersAndAnotherOneAnotherPicture()
        async throws
    {
        let origin = try await OriginServer.start()
        origin.route("/m.png", .png(PNGFixture.solid(.red, width: 8, height: 4)))
        let live = try await start {
            $0.takeSources(of: origin)
            $0.askAgain()
            $0.watermark.picture.path = nil
            $0.watermark.picture.url = origin.url("/m.png").absoluteString
        }
        let first = try await live.ask("/_/wm:1/plain/local:///a.png")
        #expect(try red(first)[4] == 32)
        origin.route("/m.png", .png(PNGFixture.solid(.red, width: 4, height: 4)))
        let second = try await live.ask("/_/wm:1/plain/local:///a.png")
        #expect(try red(second)[4] == 16)
        #expect(first["ETag"] != second["ETag"])
    }

    @Test func withoutAWatermarkTheOptionDoesNothingAndIsLoggedOnce() async throws {
        let live = try await start { $0.watermark.picture.path = nil }
        let marked = try await live.ask("/_/wm:1/plain/local:///a.png")
        let plain = try await live.ask("/_/plain/local:///a.png")
        #expect(marked["ETag"] == plain["ETag"])
        #expect(plain["Cache-Status"]?.contains("hit") == true)
        _ = try await live.ask("/_/wm:0.7/plain/local:///a.png")
        let warnings = live.log.events.filter { $0.message.contains("watermark.path") }
        #expect(warnings.count == 1)
    }

    // MARK: Fallback

    @Test func theFallbackStandsInForASourceThatCannotBeHad() async throws {
        try folder.write(Data("<html>".utf8), to: "pictures/page.png")
        let live = try await start {
            $0.fallback.picture.path = mark
            $0.http.ttl = .seconds(1000)
        }
        for name in ["no.png", "page.png"] {
            let answer = try await live.ask("/_/w:4/plain/local:///\(name)")
            answer.expect(200, ["Fallback-Image": "1", "Cache-Control": "public, max-age=60"])
            #expect(try answer.pixelSize == PixelSize(width: 4, height: 2))
        }
        let there = try await live.ask("/_/w:4/plain/local:///a.png")
        there.expect(["Fallback-Image": nil, "Cache-Control": "public, max-age=1000"])
        let codes = await live.loggedRequests(3).map { $0["code"] }
        #expect(Set(codes) == ["source_not_found", "source_format", nil])
    }

    @Test func faultsOfTheURLHaveNoFallback() async throws {
        let live = try await start { $0.fallback.picture.path = mark }
        let targets = ["/_/w:-1/plain/local:///a.png", "/_/plain/https://example.com/a.png"]
        for target in targets {
            let answer = try await live.ask(target)
            answer.expect(404, ["Fallback-Image": nil])
        }
    }

    @Test(arguments: [(0, 404), (410, 410)])
    func theFallbackHasTheStatusOfTheSettings(status: Int, expected: Int) async throws {
        let live = try await start {
            $0.fallback.picture.path = mark
            $0.fallback.status = status
        }
        let first = try await live.ask("/_/w:4/plain/local:///no.png")
        #expect(first.status == expected && first["Fallback-Image"] == "1")
        let tag = try #require(first["ETag"])
        let second = try await live.ask(
            "/_/w:4/plain/local:///no.png", fields: ["If-None-Match": tag])
        #expect(second.status == expected)
    }
}
