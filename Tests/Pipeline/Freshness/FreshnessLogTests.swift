import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

/// What is told of decisions about stored responses.
@Suite struct FreshnessLogTests {
    /// What a request tells.
    private func told(
        _ fixture: FreshnessFixture, _ options: KingfisherOptionsInfo = []
    ) async -> [String] {
        fixture.decisions.removeAll()
        // What is told of a failure is looked at, too.
        _ = await kingfisherError { _ = try await fixture.get(options) }
        return fixture.decisions.events.map(\.message)
    }

    @Test func eachDecisionIsToldWithItsReasonAndEachAnswer() async throws {
        let fixture = try await FreshnessFixture()
        fixture.serve(3, tag: "\"1\"")
        let received = "answered 200 with \(FreshnessFixture.png(3).count) bytes"
        #expect(await told(fixture) == ["fetched: nothing is stored", received])
        #expect(await told(fixture) == ["used: it is fresh in memory"])
        fixture.cache.clearMemoryCache()
        #expect(await told(fixture) == ["used: it is fresh"])
        #expect(
            await told(fixture, [.processor(CountingProcessor()), .fromMemoryCacheOrRefresh])
                == ["fetched: the wanted image is not cached", received])
        fixture.pass(100)
        #expect(await told(fixture) == ["validated: it is stale", "answered 304 with 0 bytes"])
        let forced = await told(fixture, [.forceRefresh])
        #expect(forced == ["fetched: the request says no-cache", received])
        fixture.pass(100)
        #expect(await told(fixture, [.onlyFromCache]) == ["used though stale"])
        fixture.origin.route("/a.png", .abort(.reset))
        let failing = await told(fixture)
        #expect(failing.count == 2 && failing[0] == "validated: it is stale")
        #expect(failing.last?.hasPrefix("used though stale, instead of an error: ") == true)
    }

    @Test func whatIsNotThereAndWhatIsRememberedIsToldToo() async throws {
        let fixture = try await FreshnessFixture(.on.with { $0.negative = .on() })
        #expect(await told(fixture, [.onlyFromCache]) == ["not there: nothing is stored"])
        #expect(await told(fixture) == ["fetched: nothing is stored"])
        #expect(await told(fixture) == ["not asked for: the answer was 404 before"])
        try await fixture.store(7)
        #expect(await told(fixture) == ["used: it is fresh in memory"])
        fixture.cache.clearMemoryCache()
        #expect(await told(fixture) == ["used: the program has stored it"])
    }

    @Test func aRevalidationIsToldWithAgeAndLifetimeAndWithoutSecrets() async throws {
        let fixture = try await FreshnessFixture()
        let words = "max-age=60, stale-while-revalidate=600"
        fixture.serve(3, words, tag: "\"1\"")
        let path = "/a.png?token=geheim"
        _ = try await fixture.get(at: path)
        fixture.pass(100.5)
        fixture.decisions.removeAll()
        _ = try await fixture.get(at: path)
        let events = await fixture.decisions.waitFor(count: 3)
        #expect(
            events.map(\.message) == [
                "used though stale, and revalidated", "validated: it is stale",
                "answered 304 with 0 bytes",
            ])
        #expect(events[0].details["age"] == "100 s" && events[0].details["lifetime"] == "60 s")
        #expect(events.allSatisfy { $0.details["key"]?.contains("geheim") == false })
    }

    @Test func redirectsAreDecisionsOfTheirOwn() async throws {
        let fixture = try await FreshnessFixture()
        fixture.redirect(to: "/b.png", 301, "max-age=60")
        fixture.serve(3, "max-age=6000", at: "/b.png")
        _ = try await fixture.get()
        fixture.cache.clearMemoryCache()
        #expect(await told(fixture) == ["used: it is fresh", "used: it is fresh"])
        #expect(
            fixture.decisions.events.map { $0.details["key"] }
                == ["/a.png", "/b.png"].map { fixture.url($0).absoluteString })
    }
}
