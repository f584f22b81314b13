import Foundation
import FoundationNetworking
import HalcyonTestKit
import HalcyonWork
import Testing

@testable import Halcyon

/// What the other options mean for a request that follows HTTP's rules.
@Suite struct FreshnessOptionTests {
    private let fixture: FreshnessFixture

    init() async throws { fixture = try await FreshnessFixture() }

    @Test func fromMemoryCacheOrRefreshValidatesWhatIsInMemoryAndNothingElse() async throws {
        try await fixture.load(3, tag: "\"1\"")
        #expect(try await fixture.got([.fromMemoryCacheOrRefresh]) == "3 fresh")
        #expect(try await fixture.got([.fromMemoryCacheOrRefresh], after: 100) == "3 validated")
        fixture.cache.clearMemoryCache()
        #expect(try await fixture.got([.fromMemoryCacheOrRefresh]) == "3 fetched")
        #expect(fixture.lastCondition == nil)
    }

    @Test func onlyFromCacheDeliversNothingStaleThatTheServerForbids() async throws {
        try await fixture.load(3, "max-age=60, must-revalidate", tag: "\"1\"")
        #expect(await fixture.errorCode([.onlyFromCache], after: 1_000) == 3006)
    }

    @Test func theScaleFactorMakesNoOtherResponse() async throws {
        fixture.serve(3, tag: "\"1\"")
        #expect(try await fixture.got() == "3 fetched")
        #expect(try await fixture.got([.scaleFactor(2)]) == "3 fresh")
        #expect(try await fixture.got([.scaleFactor(3)], after: 100) == "3 validated")
        #expect(try await fixture.got() == "3 fresh")
        #expect(try await fixture.cache.httpResponses().count == 1)
        #expect(fixture.count == 2)
    }

    @Test func aModifierThatSetsConditionsOfItsOwnIsLeftAlone() async throws {
        let fixture = try await FreshnessFixture.aged()
        let modifier = setting(["If-None-Match": "\"1\""])
        #expect(await fixture.errorCode([.requestModifier(modifier)]) == 2002)
        #expect(try await fixture.got() == "3 validated")
    }

    @Test(arguments: [HTTPCaching.on, .off])
    func aRequestWhoseModifierStillRunsIsAmongAllThatAreCancelled(_ caching: HTTPCaching)
        async throws
    {
        let fixture = try await FreshnessFixture(caching)
        fixture.serve(3)
        let gate = Gate()
        async let failure = kingfisherError {
            _ = try await fixture.get([.requestModifier(HeldModifier(gate: gate))])
        }
        await gate.waitForWaiters(1)
        fixture.downloader.cancelAll()
        #expect(await failure?.isCancelled == true)
        #expect(fixture.count == 0)
    }

    @Test(arguments: [
        ("no-cache", "3 validated"), ("max-age=10", "3 validated"),
        ("min-fresh=590", "3 validated"),
        ("only-if-cached", "3 fresh"), ("no-store", "3 fetched, unstored"),
    ])
    func theWordsOfARequestCountForItAlone(_ words: String, _ use: String) async throws {
        fixture.serve(3, "max-age=600", tag: "\"1\"")
        #expect(try await fixture.got() == "3 fetched")
        fixture.pass(100)
        let modifier = setting(["Cache-Control": words])
        #expect(try await fixture.got([.requestModifier(modifier)]) == use)
        #expect(fixture.count == (use == "3 fresh" ? 1 : 2))
        #expect(try await fixture.got() == "3 fresh")
    }

    @Test(
        arguments: [(nil, "3 fetched"), (.removingQueryItems(["n"]), "3 fresh")]
            as [(CacheKeyNormalizer?, String)])
    func aQueryThatChangesEachTimeMakesAnotherResponseUnlessItIsTakenOutOfTheKey(
        _ normalizer: CacheKeyNormalizer?, _ second: String
    ) async throws {
        fixture.serve(3, "max-age=600", tag: "\"1\"")
        let runs = Locked(0)
        let modifier = changing { [url = fixture.url()] request in
            let number = runs.withLock { runs in
                runs += 1
                return runs
            }
            request.url = url.appending(queryItems: [URLQueryItem(name: "n", value: "\(number)")])
        }
        var options: KingfisherOptionsInfo = [.requestModifier(modifier)]
        if let normalizer { options.append(.cacheKeyNormalizer(normalizer)) }
        #expect(try await fixture.got(options) == "3 fetched")
        #expect(try await fixture.got(options) == second)
        #expect(runs.value == 2)
        #expect(fixture.count == (normalizer == nil ? 2 : 1))
    }

    @Test func aModifierThatGivesNothingLeavesTheCache() async throws {
        try await fixture.load(3)
        let modifier = AnyModifier { _ in nil }
        #expect(try await fixture.got([.requestModifier(modifier)]) == "3 fresh")
        #expect(await fixture.errorCode([.requestModifier(modifier)], after: 100) == 1001)
    }

    @Test func requestsThatVaryGetTheirOwnPictures() async throws {
        fixture.origin.route("/a.png") { request in
            FreshnessFixture
                .picture(request.headers["Accept-Language"] == "de" ? 4 : 3, "max-age=600")
                .header("Vary", "Accept-Language")
        }
        func speaking(_ language: String) -> KingfisherOptionsInfo {
            [.requestModifier(setting(["Accept-Language": language]))]
        }
        #expect(try await fixture.got(speaking("en")) == "3 fetched")
        #expect(try await fixture.got(speaking("de")) == "4 fetched")
        #expect(try await fixture.got(speaking("DE")) == "4 fresh")
        #expect(try await fixture.got(speaking("en")) == "3 fetched")
    }

    @Test func aRememberedErrorIsNotAskedForAgainUntilItsEnd() async throws {
        let fixture = try await FreshnessFixture(.on.with { $0.negative = .on(lifetime: 30) })
        fixture.origin.route("/a.png", .status(404))
        let retries = DelayRetryStrategy(maxRetryCount: 3, retryInterval: .seconds(0))
        #expect(await fixture.errorCode() == 2002)
        #expect(await fixture.errorCode([.retryStrategy(retries)]) == 2002)
        #expect(fixture.count == 1)
        fixture.serve(3)
        #expect(try await fixture.got(after: 31) == "3 fetched")
    }

    @Test func aRememberedErrorIsKnownWhileItIsWritten() async throws {
        let fixture = try await FreshnessFixture(.on.with { $0.negative = .on() })
        let count = 400
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<count {
                group.addTask {
                    for _ in 0..<3 {
                        #expect(await fixture.errorCode(at: "/\(number).png") == 2002)
                    }
                }
            }
        }
        #expect(fixture.count == count, "each was asked for once")
    }

    @Test func byDefaultErrorsAreNotRemembered() async throws {
        fixture.origin.route("/a.png", .status(404).header("Cache-Control", "max-age=600"))
        for _ in 0..<2 { #expect(await fixture.errorCode() == 2002) }
        #expect(fixture.count == 2)
    }

    @Test func aStaleImageComesBeforeRetriesAndAlternatives() async throws {
        let fixture = try await FreshnessFixture.aged()
        fixture.serve(4, at: "/other.png")
        fixture.serve(3, tag: "\"1\"", [.abort(.reset)])
        let retries = ScriptedRetryStrategy([.retry(userInfo: nil)])
        let options: KingfisherOptionsInfo = [
            .retryStrategy(retries),
            .alternativeSources([.network(fixture.origin.url("/other.png"))]),
        ]
        #expect(try await fixture.got(options) == "3 stale error")
        #expect(retries.calls.count == 0)
        #expect(fixture.origin.requestCount(for: "/other.png") == 0)
    }

    @Test func oneValidationServesAllWhoAsk() async throws {
        let fixture = try await FreshnessFixture.aged()
        let gate = Gate()
        fixture.serve(3, tag: "\"1\"", [.wait(.gate(gate))])
        try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<20 { group.addTask { try await fixture.got() } }
            await fixture.origin.waitForRequests(2)
            gate.open()
            for try await result in group { #expect(["3 validated", "3 fresh"].contains(result)) }
        }
        #expect(fixture.count == 2)
    }

    /// Who has begun before a download ended, and asks after that.
    @Test(
        arguments: [
            (.on, "no-store", [:], false), (.shared, "private, max-age=60", [:], false),
            (.shared, "max-age=60", ["Authorization": "Bearer a"], false),
            (.shared, "public, max-age=60", ["Authorization": "Bearer a"], true),
            (.on, "private, max-age=60", [:], true),
        ] as [(HTTPCaching, String, [String: String], Bool)])
    func anAnswerThatIsNotForOthersIsNotGivenToWhoAsksLater(
        _ caching: HTTPCaching, _ words: String, _ fields: [String: String], _ isForOthers: Bool
    ) async throws {
        let fixture = try await FreshnessFixture(caching)
        fixture.serve(3, words)
        let gate = Gate()
        // Neither is found in the cache, so that only the download itself could be shared.
        let options: KingfisherOptionsInfo = [
            .memoryCacheExpiration(.expired), .diskCacheExpiration(.expired),
        ]
        func got(_ gate: Gate?) async throws -> String {
            try await fixture.got(
                options + [.requestModifier(HeldModifier(gate: gate, fields: fields))])
        }
        async let late = got(gate)
        await gate.waitForWaiters(1)
        #expect(try await got(nil).hasPrefix("3 fetched"))
        gate.open()
        #expect(try await late.hasPrefix("3 fetched"))
        #expect(fixture.count == (isForOthers ? 1 : 2))
    }

    @Test func aPrefetcherSkipsWhatIsFreshOrStillGoodAndCompletesWhatIsNew() async throws {
        fixture.serve(3, tag: "\"1\"")
        fixture.serve(3, at: "/b.png")
        let paths = ["/a.png", "/b.png"]
        #expect(await fixture.prefetched(paths) == [0, 0, 2])
        #expect(await fixture.prefetched(paths) == [2, 0, 0])
        #expect(fixture.count == 2)
        fixture.pass(100)
        fixture.serve(4, at: "/b.png")
        #expect(await fixture.prefetched(paths) == [1, 0, 1])
        #expect(try await fixture.got(at: "/b.png") == "4 fresh")
    }

    // MARK: Requests that want nothing to be sent, by an option or by a field of their own

    static let ways: [KingfisherOptionsInfo] = [
        [.onlyFromCache], [.requestModifier(setting(["Cache-Control": "only-if-cached"]))],
    ]

    @Test(arguments: ways)
    func aFreshResponseWithoutTheWantedSizeIsNotFetched(_ way: KingfisherOptionsInfo) async throws {
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
    func aLoopOfStoredRedirectsIsBrokenByAskingTheServerByOthersAlone(
        _ way: KingfisherOptionsInfo
    ) async throws {
        fixture.redirect(to: "/b.png", 301, "max-age=600")
        fixture.redirect("/b.png", to: "/a.png", 301, "max-age=600")
        #expect(await fixture.errorCode() == 2003)
        fixture.origin.forgetTraffic()
        #expect(await fixture.errorCode(way) == 3006)
        #expect(fixture.count == 0)
        fixture.serve(3, "max-age=600")
        #expect(try await fixture.got() == "3 fetched")
        #expect(fixture.count == 1)
    }

    @Test(arguments: ways)
    func whatIsDeliveredStaleIsNotRevalidated(_ way: KingfisherOptionsInfo) async throws {
        let fixture = try await FreshnessFixture.aged("max-age=60, stale-while-revalidate=600")
        #expect(try await fixture.got(way) == "3 stale accepted")
        #expect(fixture.count == 1)
    }
}
