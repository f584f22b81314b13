import Foundation
import HalcyonServer
import HalcyonTestKit
import Testing

/// How long a server goes by what it knows, by a clock that is moved by hand.
@Suite struct LifetimeTests {
    private let picture = PNGFixture.green
    private let clock = ManualClock()
    private let origin: OriginServer

    init() async throws { origin = try await OriginServer.start() }

    @Test func aFailureIsRememberedForItsTime() async throws {
        origin.route("/a.png", .png(picture.prefix(picture.count / 2)))
        let live = try await LiveServer.start(origin, time: clock.time) {
            $0.cache.negativeTTL = .seconds(60)
        }
        for (seconds, isKnown) in [(0, false), (59, true), (1, false)] {
            clock.advance(by: .seconds(seconds))
            let answer = try await live.ask(origin.target())
            #expect(answer.status == 422)
            #expect((answer["Cache-Status"] == "halcyon; hit; detail=negative") == isKnown)
        }
    }
}
