import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

/// Requests that want nothing to be sent, by an option or by a field of their own.
@Suite struct OnlyIfCachedTests {
    static let ways: [KingfisherOptionsInfo] = [
        [.onlyFromCache], [.requestModifier(setting(["Cache-Control": "only-if-cached"]))],
    ]

    @Test(arguments: ways)
    func aFreshResponseWithoutTheWantedSizeIsNotFetched(_ way: KingfisherOptionsInfo) async throws {
        let fixture = try await FreshnessFixture()
        fixture.serve(8, "max-age=600", tag: "\"1\"")
        _ = try await fixture.get([.processor(CountingProcessor(identifier: "a"))])
        let other = CountingProcessor(identifier: "b")
        #expect(await fixture.errorCode(way + [.processor(other)]) == 3006)
        #expect(fixture.count == 1)
    }

    @Test(arguments: ways)
    func anErrorThatIsRememberedNoLongerIsNotAskedAbout(_ way: KingfisherOptionsInfo) async throws {
        let fixture = try await FreshnessFixture(.on.with { $0.negative = .on(lifetime: 30) })
        fixture.origin.route("/a.png", .status(404))
        #expect(await fixture.errorCode() == 2002)
        #expect(await fixture.errorCode(way) == 2002)
        #expect(await fixture.errorCode(way, after: 31) == 3006)
        #expect(fixture.count == 1)
    }

    @Test(arguments: ways)
    func aLoopOfStoredRedirectsIsNotBrokenByAskingTheServer(
        _ way: KingfisherOptionsInfo
    ) async throws {
        let fixture = try await FreshnessFixture()
        fixture.redirect(to: "/b.png", 301, "max-age=600")
        fixture.redirect("/b.png", to: "/a.png", 301, "max-age=600")
        #expect(await fixture.errorCode() == 2003)
        fixture.origin.forgetTraffic()
        #expect(await fixture.errorCode(way) == 3006)
        #expect(fixture.count == 0)
    }

    @Test(arguments: ways)
    func whatIsDeliveredStaleIsNotRevalidated(_ way: KingfisherOptionsInfo) async throws {
        let fixture = try await FreshnessFixture.aged("max-age=60, stale-while-revalidate=600")
        #expect(try await fixture.got(way) == "3 stale accepted")
        #expect(fixture.count == 1)
    }
}
