import Foundation
@testable import HalcyonServer
import HalcyonTestKit
import Testing

/// Pictures that cannot be made are not tried again for a while.
@Suite struct KnownFailureTests {
    private let picture = PNGFixture.green
    private let negative = "halcyon; hit; detail=negative"

    private func start(
        _ origin: OriginServer, _ change: LiveServer.Change = { _ in }
    ) async throws -> LiveServer {
        try await LiveServer.start(origin) {
            $0.cache.negativeTTL = .seconds(600)
            $0.http.ttl = .seconds(1000)
            try change(&$0)
        }
    }

    /// An origin that has half of the picture, with a tag.
    private func damaged() async throws -> OriginServer {
        let origin = try await OriginServer.start()
        origin.route("/a.png", .png(picture.prefix(picture.count / 2)).with(.entityTag("\"1\"")))
        return origin
    }

    private func decodings(_ live: LiveServer) -> Int { live.server.gates.decoders.usage.entered }

    @Test(arguments: ["source_damaged": 0.5, "source_too_complex": 1, "source_format": 0])
    func aPictureThatCannotBeMadeIsTriedOnce(code: String, share: Double) async throws {
        let origin = try await OriginServer.start()
        let drawing = Data(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"9\" height=\"9\"/>".utf8)
        let half = picture.prefix(Int(Double(picture.count) * share))
        origin.route("/a.png", .png(share == 0 ? drawing : half))
        let live = try await start(origin) {
            $0.processing.svg = .refuse
            if share == 1 { $0.limits.maxPixels = 100 }
        }
        let target = origin.target()
        for number in 0..<3 {
            let answer = try await live.told(target)
            #expect(answer.code == code, "\(answer.text)")
            let status = number == 0 ? nil : negative
            answer.expect(422, ["Cache-Status": status, "Cache-Control": "public, max-age=600"])
        }
        #expect(decodings(live) == 1)
        // Something else may be had of it.
        let other = try await live.ask(origin.target("/a.png", "w:11"))
        #expect(other.status == 422 && other["Cache-Status"] == nil)
        #expect(decodings(live) == 2)
    }

    @Test func informationAboutADamagedPictureIsLookedForOnce() async throws {
        let origin = try await damaged()
        let live = try await start(origin)
        for number in 0..<3 {
            let answer = try await live.ask("/info/_/blurhash:1/plain/\(origin.url("/a.png"))")
            #expect(answer.status == 422)
            #expect(answer["Cache-Status"] == (number == 0 ? nil : negative))
        }
        #expect(decodings(live) == 1)
    }

    @Test func aPurgeHasItTriedAgain() async throws {
        let origin = try await damaged()
        let live = try await start(origin)
        let url = origin.url("/a.png").absoluteString
        let target = origin.target()
        #expect(try await live.ask(target).status == 422)
        // The server is wrong: it says that this is what it had before.
        origin.route("/a.png", .png(picture).with(.entityTag("\"1\"")))
        #expect(try await live.ask(target)["Cache-Status"] == negative)
        _ = try await live.purge("source", url)
        #expect(try await live.ask(target).status == 200)
    }

    @Test func anotherVersionOfTheSourceIsTried() async throws {
        let origin = try await damaged()
        let live = try await start(origin) { $0.askAgain() }
        let target = origin.target()
        #expect(try await live.ask(target).status == 422)
        #expect(try await live.ask(target)["Cache-Status"] == negative)
        origin.route("/a.png", .png(picture).with(.entityTag("\"2\"")))
        #expect(try await live.ask(target).status == 200)
    }

    @Test func aFailureIsRememberedForItsTime() async throws {
        let (origin, clock) = (try await damaged(), ManualClock())
        let live = try await LiveServer.start(origin, time: clock.time) {
            $0.cache.negativeTTL = .seconds(60)
        }
        for (seconds, isKnown) in [(0, false), (59, true), (1, false)] {
            clock.advance(by: .seconds(seconds))
            let answer = try await live.ask(origin.target())
            #expect(answer.status == 422 && (answer["Cache-Status"] == negative) == isKnown)
        }
    }

    @Test func nothingIsRememberedWhereTheSettingsSaySo() async throws {
        let origin = try await damaged()
        let live = try await start(origin) { $0.cache.negativeTTL = .zero }
        for _ in 0..<2 { #expect(try await live.ask(origin.target())["Cache-Status"] == nil) }
        #expect(decodings(live) == 2)
    }
}
