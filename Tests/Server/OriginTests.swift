import Foundation
import HalcyonPixels
@testable import HalcyonServer
import HalcyonTestKit
import Testing

/// Origins of sources that the program has added.
@Suite struct OriginTests {
    /// Answers as it is told, and notes what it is asked.
    private final class Script: ImageOrigin {
        let requests = Recorder<OriginRequest>()
        private let answer: Locked<OriginAnswer>
        private let isStuck: Bool

        init(_ answer: OriginAnswer, isStuck: Bool = false) {
            self.answer = Locked(answer)
            self.isStuck = isStuck
        }

        func say(_ new: OriginAnswer) { answer.set(new) }

        func fetch(_ request: OriginRequest) async throws -> OriginAnswer {
            requests.record(request)
            if isStuck { try await Task.sleep(for: .seconds(600)) }
            guard request.url.path != "/broken" else { throw POSIXError(.EIO) }
            return answer.value
        }
    }

    private let picture = PNGFixture.green

    private func code(_ live: LiveServer, _ source: String) async throws -> String {
        try await live.outcome("/_/w:10/plain/\(source)")
    }

    @Test func aPictureIsFetchedOnceAndKept() async throws {
        let script = Script(.picture(picture, version: "v1"))
        let live = try await LiveServer.start(origins: ["album": script])
        for width in [10, 11, 10] {
            let answer = try await live.ask("/_/w:\(width)/plain/album:///2024/1.png")
            #expect(try answer.pixelSize.width == width)
        }
        #expect(script.requests.events.map(\.url.absoluteString) == ["album:///2024/1.png"])
        #expect(script.requests.events[0].maximumBytes == 20 << 20)
        #expect(script.requests.events[0].version == nil)
        #expect(
            try await live.ask("/info/_/plain/album:///2024/1.png").text.contains("\"width\":40"))
    }

    @Test func aPictureWhoseTimeIsOverIsAskedForByItsVersion() async throws {
        let script = Script(.picture(picture, version: "v1"))
        let live = try await LiveServer.start(origins: ["album": script]) { $0.askAgain() }
        let first = try await live.ask("/_/w:10/plain/album:///1.png")
        script.say(.notModified)
        let second = try await live.ask("/_/w:10/plain/album:///1.png")
        #expect(second.body == first.body && second["ETag"] == first["ETag"])
        #expect(second["Cache-Status"] == "halcyon; fwd=stale; fwd-status=304")
        script.say(.picture(PNGFixture.solid(.red, width: 10, height: 10), version: "v2"))
        #expect(try await live.ask("/_/w:10/plain/album:///1.png")["ETag"] != first["ETag"])
        #expect(script.requests.events.map(\.version) == [nil, "v1", "v1"])
    }

    @Test func itsFailuresHaveTheirStatuses() async throws {
        let script = Script(.notFound)
        let live = try await LiveServer.start(origins: ["album": script]) {
            $0.limits.maxSourceBytes = 1000
            $0.cache.negativeTTL = .zero
        }
        #expect(try await code(live, "album:///1.png") == "404 source_not_found")
        #expect(try await code(live, "album:///broken") == "404 source_unreachable")
        let rows: [(OriginAnswer, String)] = [
            (.notModified, "404 source_unreachable"), (.picture(Data()), "422 source_format"),
            (.picture(Data("<html>".utf8)), "422 source_format"),
            (.picture(picture + Data(count: 1000)), "422 source_too_large"),
        ]
        for (answer, outcome) in rows {
            script.say(answer)
            #expect(try await code(live, "album:///1.png") == outcome)
        }
        #expect(try await code(live, "other:///1.png") == "404 source_not_allowed")
        // The log has the error's own words, and the client has not.
        #expect(live.log.events.contains { $0["cause"]?.contains("POSIX") == true })
    }

    @Test func oneThatDoesNotEndIsNotWaitedFor() async throws {
        let clock = ManualClock()
        let live = try await LiveServer.start(
            origins: ["album": Script(.notFound, isStuck: true)], time: clock.time
        ) { $0.sources.http.totalTimeout = .seconds(7) }
        async let late = code(live, "album:///1.png")
        await clock.waitForSleeper(until: .seconds(7))
        clock.advance(by: .seconds(7))
        #expect(try await late == "504 source_timeout")
        try await live.expectCalm()
    }

    @Test func aPurgeReachesItsPictures() async throws {
        let script = Script(.picture(picture))
        let live = try await LiveServer.start(origins: ["album": script])
        for width in [10, 11] { _ = try await live.ask("/_/w:\(width)/plain/album:///1.png") }
        #expect(try await live.purge("source", "album:///1.png") == .purged(2, 1))
        _ = try await live.ask("/_/w:10/plain/album:///1.png")
        #expect(script.requests.events.count == 2)
    }

    @Test func itAloneIsEnoughToServe() async throws {
        let live = try await LiveServer.start(origins: ["album": Script(.picture(picture))]) {
            $0.sources.local.root = nil
        }
        #expect(try await live.ask("/_/plain/album:///1.png").status == 200)
    }

    @Test(arguments: ["http", "local", "Album", "", "1a", "a b", "data"])
    func aSchemeThatIsTakenOrNoneIsAFault(scheme: String) {
        var configuration = ImageServerConfiguration()
        configuration.signature.isRequired = false
        #expect(throws: ConfigurationError.self) {
            try ImageServer(configuration: configuration, origins: [scheme: Script(.notFound)])
        }
    }
}
