import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

/// Requests that want nothing to be sent, by an option or by a field of their own.
@Suite struct OnlyIfCachedTests {
    static let ways: [KingfisherOptionsInfo] = [
        [.onlyFromCache], [.requestModifier(setting(["Cache-Control": "only-if-cached"]))],
    ]

    private func errorCode(
        _ fixture: FreshnessFixture, _ options: KingfisherOptionsInfo
    ) async -> Int? {
        await kingfisherError { _ = try await fixture.get(options) }?.errorCode
    }

    @Test(arguments: ways)
    func aFreshResponseWithoutTheWantedSizeIsNotFetched(_ way: KingfisherOptionsInfo) async throws {
        let fixture = try await FreshnessFixture()
        fixture.serve(8, "max-age=600", tag: "\"1\"")
        _ = try await fixture.get([.processor(CountingProcessor(identifier: "a"))])
        let other = CountingProcessor(identifier: "b")
        #expect(await errorCode(fixture, way + [.processor(other)]) == 3006)
        #expect(fixture.count == 1)
    }

    @Test(arguments: ways)
    func anErrorThatIsRememberedNoLongerIsNotAskedAbout(_ way: KingfisherOptionsInfo) async throws {
        var caching = HTTPCaching.on
        caching.negative = .on(lifetime: 30)
        let fixture = try await FreshnessFixture(caching)
        fixture.origin.route("/a.png", .status(404))
        #expect(await errorCode(fixture, []) == 2002)
        #expect(await errorCode(fixture, way) == 2002)
        fixture.pass(31)
        #expect(await errorCode(fixture, way) == 3006)
        #expect(fixture.count == 1)
    }

    @Test(arguments: ways)
    func aLoopOfStoredRedirectsIsNotBrokenByAskingTheServer(
        _ way: KingfisherOptionsInfo
    ) async throws {
        let fixture = try await FreshnessFixture()
        for (path, target) in [("/a.png", "/b.png"), ("/b.png", "/a.png")] {
            fixture.origin.route(
                path, .redirect(to: target, status: 301).cacheControl("max-age=600"))
        }
        #expect(await errorCode(fixture, []) == 2003)
        fixture.origin.forgetTraffic()
        #expect(await errorCode(fixture, way) == 3006)
        #expect(fixture.count == 0)
    }

    @Test(arguments: ways)
    func whatIsDeliveredStaleIsNotRevalidated(_ way: KingfisherOptionsInfo) async throws {
        let fixture = try await FreshnessFixture.aged("max-age=60, stale-while-revalidate=600")
        #expect(try await fixture.got(way) == "3 stale accepted")
        #expect(fixture.count == 1)
    }
}
