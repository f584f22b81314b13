import Foundation
import HalcyonTestKit
import HalcyonWork
import Testing

@testable import Halcyon

@Suite struct RedirectFreshnessTests {
    private let fixture: FreshnessFixture

    init() async throws { fixture = try await FreshnessFixture() }

    @Test func aFreshRedirectToAFreshImageNeedsNoRequest() async throws {
        fixture.redirect(to: "/b.png", 301, "max-age=600")
        fixture.serve(3, "max-age=600", at: "/b.png")
        #expect(try await fixture.got() == "3 fetched")
        #expect(fixture.count == 2)
        #expect(try await fixture.got() == "3 fresh")
        fixture.cache.clearMemoryCache()
        #expect(try await fixture.got() == "3 fresh")
        #expect(fixture.count == 2)
    }

    @Test func aRedirectThatMayNotBeStoredIsAskedForAndTheImageIsNot() async throws {
        fixture.redirect(to: "/b.png")
        fixture.serve(3, "max-age=600", at: "/b.png")
        #expect(try await fixture.got() == "3 fetched")
        #expect(try await fixture.got() == "3 validated")
        #expect(fixture.origin.requestCount(for: "/a.png") == 2)
        #expect(fixture.origin.requestCount(for: "/b.png") == 1)
    }

    @Test func conditionsGoToTheHopThatTheyBelongTo() async throws {
        fixture.redirect(to: "/b.png")
        fixture.serve(3, "max-age=60", tag: "\"b\"", at: "/b.png")
        _ = try await fixture.get()
        #expect(try await fixture.got(after: 100) == "3 validated")
        let conditions = fixture.origin.requests.map { $0.headers["If-None-Match"] ?? "-" }
        #expect(conditions == ["-", "-", "-", "\"b\""])
    }

    @Test func aRedirectThatLeadsElsewhereNowGivesTheOtherPicture() async throws {
        fixture.redirect(to: "/b.png", 301, "max-age=60")
        fixture.serve(3, "max-age=6000", at: "/b.png")
        fixture.serve(4, "max-age=6000", at: "/c.png")
        _ = try await fixture.get()
        fixture.pass(100)
        fixture.redirect(to: "/c.png", 301, "max-age=60")
        #expect(try await fixture.got() == "4 fetched")
        #expect(try await fixture.got() == "4 fresh")
    }

    @Test func secretsOfWhereARedirectLeadsDoNotReachTheIndex() async throws {
        let path = "/b.png?token=geheim"
        fixture.origin.route(
            "/a.png",
            .redirect(to: path, status: 301).header("Cache-Control", "max-age=600")
                .header("Link", "<https://example.com/c.png?token=geheim>"))
        fixture.origin.route(
            path, FreshnessFixture.picture(3, "max-age=600").header("Content-Location", path))
        #expect(try await fixture.got() == "3 fetched")
        #expect(try await fixture.got() == "3 validated")
        #expect(fixture.origin.requestCount(for: "/a.png") == 2, "asked for each time")
        #expect(fixture.count == 3)
        // What is written without a file comes after what has been asked for before.
        await DiskLane.writing.run {}
        #expect(try !fixture.hasWritten("geheim"))
    }

    @Test func aRedirectThatWasValidatedIsReportedWithTheImage() async throws {
        fixture.origin.route(
            "/a.png",
            .redirect(to: "/b.png", status: 301).header("Cache-Control", "max-age=60")
                .header("ETag", "\"r\""))
        fixture.serve(3, "max-age=6000", at: "/b.png")
        _ = try await fixture.get()
        fixture.pass(100)
        fixture.origin.route("/a.png", OriginResponse(status: 304))
        #expect(try await fixture.got() == "3 validated")
        #expect(fixture.lastCondition == "\"r\"")
    }

    @Test func aStaleRedirectMakesTheReportStale() async throws {
        fixture.redirect(to: "/b.png", 301, "max-age=60")
        fixture.serve(3, "max-age=6000", at: "/b.png")
        _ = try await fixture.get()
        fixture.pass(100)
        #expect(
            try await fixture.got([.requestModifier(setting(["Cache-Control": "max-stale"]))])
                == "3 stale accepted")
        #expect(try await fixture.got([.onlyFromCache]) == "3 stale accepted")
        #expect(fixture.count == 2)
        fixture.origin.route("/a.png", .abort())
        #expect(try await fixture.got() == "3 stale error")
        // What has just come from the server is what that has.
        fixture.pass(6000)
        fixture.serve(4, "max-age=60", at: "/b.png")
        #expect(try await fixture.got() == "4 fetched")
    }

    @Test func withARedirectHandlerRedirectsAreNotStored() async throws {
        fixture.redirect(to: "/b.png", 301, "max-age=600")
        fixture.serve(3, "max-age=600", at: "/b.png")
        let handling: KingfisherOptionsInfo = [
            .redirectHandler(AnyRedirectHandler { _, _, request, handler in handler(request) })
        ]
        #expect(try await fixture.got(handling) == "3 fetched")
        #expect(try await fixture.got(handling) == "3 validated")
        #expect(fixture.origin.requestCount(for: "/a.png") == 2)
        #expect(fixture.origin.requestCount(for: "/b.png") == 1)
    }
}
