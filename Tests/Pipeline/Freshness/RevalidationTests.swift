import Foundation
import HalcyonTestKit
import HalcyonWork
import Testing

@testable import Halcyon

/// Questions in the background about images that were delivered stale.
@Suite struct RevalidationTests {
    private static let words = "max-age=60, stale-while-revalidate=6000"

    /// A fixture with so many pictures that are stale, whose server waits at the gate.
    private func aged(_ count: Int, _ gate: Gate) async throws -> FreshnessFixture {
        let fixture = try await FreshnessFixture()
        for number in 0..<count {
            fixture.serve(3, Self.words, tag: "\"1\"", at: "/\(number)")
            _ = try await fixture.get(at: "/\(number)")
            fixture.serve(3, Self.words, tag: "\"1\"", at: "/\(number)", [.wait(.gate(gate))])
        }
        fixture.pass(100)
        fixture.origin.forgetTraffic()
        return fixture
    }

    @Test func fourAreUnderWayAtATime() async throws {
        let gate = Gate()
        let fixture = try await aged(10, gate)
        for number in 0..<10 {
            let use = try await fixture.got(fixture.listening, at: "/\(number)")
            #expect(use == "3 stale revalidating")
        }
        await fixture.origin.waitForRequests(4)
        gate.open()
        await fixture.findings.waitFor(count: 10)
        #expect(fixture.count == 10 && fixture.origin.peakConcurrentRequests <= 4)
    }

    @Test func ofMoreThan256ThatWaitTheOldestAreDropped() async throws {
        let gate = Gate()
        let fixture = try await aged(270, gate)
        for number in 0..<270 {
            _ = try await fixture.get(fixture.listening, at: "/\(number)")
            if number == 3 { await fixture.origin.waitForRequests(4) }
        }
        gate.open()
        await fixture.findings.waitFor(count: 260)
        // Those that came after the first four have made room.
        let asked = Set(fixture.origin.requests.map(\.path))
        #expect(asked.count == 260 && fixture.count == 260)
        #expect((4..<14).allSatisfy { !asked.contains("/\($0)") })
    }

    @Test func afterAFailureTheNextOneWaits() async throws {
        let fixture = try await FreshnessFixture.aged(Self.words)
        fixture.origin.route("/a.png", .abort(.reset))
        var asked = 1
        for (number, pause) in [5.0, 10, 20].enumerated() {
            #expect(try await fixture.got(fixture.listening) == "3 stale revalidating")
            await fixture.findings.waitFor(count: number + 1)
            #expect(fixture.count > asked)
            asked = fixture.count
            fixture.pass(pause - 1)
            #expect(try await fixture.got(fixture.listening) == "3 stale revalidating")
            #expect(fixture.count == asked)
            fixture.pass(1)
        }
        fixture.serve(3, Self.words, tag: "\"1\"")
        #expect(try await fixture.got(fixture.listening) == "3 stale revalidating")
        #expect(await fixture.findings.waitFor(count: 4).last == "unchanged")
        #expect(try await fixture.got() == "3 fresh")
    }

    @Test func aServerThatWantsToBeLeftAloneIsNotAsked() async throws {
        let fixture = try await FreshnessFixture.aged(Self.words)
        fixture.origin.route("/busy", .status(503).header("Retry-After", "120"))
        #expect(await fixture.errorCode(at: "/busy") == 2002)
        #expect(try await fixture.got(fixture.listening) == "3 stale revalidating")
        #expect(fixture.origin.requestCount(for: "/a.png") == 1)
        #expect(try await fixture.got(fixture.listening, after: 120) == "3 stale revalidating")
        await fixture.findings.waitFor(count: 1)
        #expect(fixture.origin.requestCount(for: "/a.png") == 2)
    }

    /// What a request in the background told a view, as text; `dropped` when the server was not asked.
    private func delivered(
        _ fixture: FreshnessFixture, at path: String, telling told: Recorder<String>
    ) async throws {
        var request = ImageRequest(
            source: .network(fixture.url(path)), options: fixture.manager.parsedOptions([]),
            probing: .onItsOwnThread)
        request.onRevalidated = { told.record($0.map { "\($0)" } ?? "dropped") }
        _ = try await request.run().get()
    }

    @Test func whatWaitsWhenTheServerAsksToBeLeftAloneIsNotSent() async throws {
        let gate = Gate()
        let fixture = try await aged(5, gate)
        for number in 0..<4 {
            fixture.origin.route(
                "/\(number)", .status(503).header("Retry-After", "120").with(.wait(.gate(gate))))
        }
        let told = Recorder<String>()
        for number in 0..<5 {
            try await delivered(fixture, at: "/\(number)", telling: told)
            if number == 3 { await fixture.origin.waitForRequests(4) }
        }
        gate.open()
        let all = await told.waitFor(count: 5)
        #expect(all.filter { $0 == "dropped" }.count == 1)
        #expect(all.filter { $0.hasPrefix("failed") }.count == 4)
        #expect(fixture.origin.requestCount(for: "/4") == 0)
    }

    @Test func whatWaitsForANetworkTakesNoPlaceFromOthers() async throws {
        let network = FakeNetwork(isConnected: true)
        let fixture = try await FreshnessFixture(network: network)
        for number in 0..<6 {
            fixture.serve(
                3, number == 5 ? Self.words : "max-age=60", tag: "\"1\"", at: "/\(number)")
            _ = try await fixture.get(at: "/\(number)")
        }
        fixture.pass(100)
        network.timeOut()
        for number in 0..<5 {
            let use = try await fixture.got(fixture.listening, at: "/\(number)")
            #expect(use == "3 stale revalidating")
        }
        await network.observations.waitFor(count: 5)
        #expect(network.timeouts == [30, 30, 30, 30, 30], "each from its beginning")
        #expect(try await fixture.got(fixture.listening, at: "/5") == "3 stale revalidating")
        await fixture.findings.waitFor(count: 1)
        #expect(fixture.count == 7)
        network.connect()
        #expect(await fixture.findings.waitFor(count: 6).allSatisfy { $0 == "unchanged" })
        #expect(fixture.count == 12)
    }

    @Test func inLowDataModeNothingIsLoadedInItsPlace() async throws {
        let fixture = try await FreshnessFixture.aged(Self.words)
        fixture.serve(5, at: "/small.png")
        fixture.downloader.isLowDataModeActive = { true }
        let options = fixture.listening + [.lowDataMode(.network(fixture.url("/small.png")))]
        #expect(try await fixture.got(options) == "3 stale revalidating")
        #expect(await fixture.findings.waitFor(count: 1) == ["failed 2003"])
        #expect(fixture.count == 1)
    }

    @Test func aRedirectThatLeadsElsewhereNowIsAChange() async throws {
        let fixture = try await FreshnessFixture()
        fixture.redirect(to: "/b.png")
        fixture.serve(3, Self.words, tag: "\"b\"", at: "/b.png")
        fixture.serve(4, "max-age=600", at: "/c.png")
        _ = try await fixture.get()
        fixture.pass(100)
        // The first request is for the stale image, the second one for the revalidation.
        fixture.origin.route(
            "/a.png", sequence: [.redirect(to: "/b.png"), .redirect(to: "/c.png")])
        #expect(try await fixture.got(fixture.listening) == "3 stale revalidating")
        #expect(await fixture.findings.waitFor(count: 1) == ["changed 4"])
    }
}
