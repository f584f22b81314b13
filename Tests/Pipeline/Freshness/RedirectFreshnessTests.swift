import Foundation
import FoundationNetworking
import HalcyonStorage
import HalcyonTestKit
import HalcyonWork
import Testing

@testable import Halcyon

@Suite struct RedirectFreshnessTests {
    private let fixture: FreshnessFixture

    init() async throws { fixture = try await FreshnessFixture() }

    private static let handling = KingfisherOptionsInfoItem.redirectHandler(
        AnyRedirectHandler { _, _, request, handler in handler(request) })

    /// One that may not be stored, and one that a handler decides on.
    @Test(
        arguments: [(302, nil, []), (301, "max-age=600", [handling])]
            as [(Int, String?, KingfisherOptionsInfo)])
    func aRedirectThatIsNotStoredIsAskedForAndTheImageIsNot(
        _ status: Int, _ words: String?, _ options: KingfisherOptionsInfo
    ) async throws {
        fixture.redirect(to: "/b.png", status, words)
        fixture.serve(3, "max-age=600", at: "/b.png")
        #expect(try await fixture.got(options) == "3 fetched")
        #expect(try await fixture.got(options) == "3 validated")
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

    // MARK: Redirects that come where a picture is stored

    /// What answers in place of the redirect's target.
    enum Target: CaseIterable, Sendable {
        case page, missing, broken

        var response: OriginResponse {
            switch self {
            case .page: .html()
            case .missing: .status(404)
            case .broken: .status(200).with(.abort(.reset))
            }
        }
    }

    /// A picture that is stored and no longer fresh, with what the processor has made of it.
    private func staleFixture() async throws -> (FreshnessFixture, CountingProcessor) {
        let fixture = try await FreshnessFixture()
        let processor = CountingProcessor()
        fixture.serve(8, tag: "\"1\"")
        for options: KingfisherOptionsInfo in [[], [.processor(processor)]] {
            _ = try await fixture.get(options)
        }
        fixture.pass(100)
        return (fixture, processor)
    }

    @Test(
        arguments: Target.allCases,
        [(302, nil), (301, "max-age=600"), (307, "no-store")] as [(Int, String?)])
    func aRedirectThatLeadsToNoPictureLeavesTheStoredOneAndWhatWasMadeOfIt(
        _ target: Target, _ answer: (status: Int, words: String?)
    ) async throws {
        let (fixture, processor) = try await staleFixture()
        fixture.redirect(to: "/login", answer.status, answer.words)
        fixture.origin.route("/login", target.response)
        #expect(await kingfisherError { _ = try await fixture.get() } != nil)
        for clears in [false, true] {
            if clears { fixture.cache.clearMemoryCache() }
            #expect(try await fixture.got([.onlyFromCache]) == "8 stale accepted")
            let small: KingfisherOptionsInfo = [.processor(processor), .onlyFromCache]
            #expect(try await fixture.got(small) == "3 stale accepted")
        }
        fixture.serve(8, tag: "\"1\"")
        #expect(try await fixture.got() == "8 validated")
        #expect(try await fixture.got([.processor(processor)]) == "3 fresh")
        #expect(processor.runs.value == 1)
    }

    @Test(.holdingThreads, arguments: [(302, nil), (301, "max-age=600")] as [(Int, String?)])
    func aRedirectThatLeadsToAPictureTakesThePlaceOfTheStoredOne(
        _ status: Int, _ words: String?
    ) async throws {
        let (fixture, processor) = try await staleFixture()
        fixture.redirect(to: "/b.png", status, words)
        fixture.serve(6, "max-age=600", at: "/b.png")
        #expect(try await fixture.got() == "6 fetched")
        let use = words == nil ? "6 validated" : "6 fresh"
        for _ in 0..<2 { #expect(try await fixture.got() == use) }
        #expect(fixture.origin.requestCount(for: "/b.png") == 1)
        #expect(fixture.origin.requestCount(for: "/a.png") == (words == nil ? 4 : 2))
        await DiskLane.finishWriting()
        let stored = try await fixture.cache.httpResponses()
        #expect(words == nil || stored.contains { $0.status == status })
        #expect(stored.filter { $0.status == 200 }.map(\.url) == [fixture.url("/b.png")])
        #expect(
            !FileManager.default.fileExists(
                atPath: fixture.cache.cachePath(
                    forKey: fixture.url().cacheKey, processorIdentifier: processor.identifier)))
    }

    /// Of a request that wants nothing stored, and of one that changes something.
    @Test(arguments: [
        (302, setting(["Cache-Control": "no-store"]), "GET"),
        (303, changing { $0.httpMethod = "POST" }, "POST"),
    ])
    func aRedirectOfAnotherKindOfRequestLeavesTheStoredPicture(
        _ status: Int, _ modifier: AnyModifier, _ method: String
    ) async throws {
        let fixture = try await FreshnessFixture.aged()
        fixture.redirect(to: "/b.png", status)
        fixture.serve(4, method == "GET" ? "max-age=60" : "no-store", at: "/b.png")
        #expect(try await fixture.got([.requestModifier(modifier)]) == "4 fetched, unstored")
        #expect(fixture.origin.requests.map(\.method) == ["GET", method, "GET"])
        fixture.serve(3, tag: "\"1\"")
        #expect(try await fixture.got() == "3 validated")
    }

    // MARK: Redirect handlers

    /// A fixture with a stored redirect, from the picture's path to another one.
    private func redirected() async throws -> FreshnessFixture {
        let fixture = try await FreshnessFixture()
        fixture.redirect(to: "/b.png", 301, "max-age=600")
        fixture.serve(3, "max-age=600", at: "/b.png")
        fixture.serve(4, "max-age=600", at: "/c.png")
        _ = try await fixture.get()
        fixture.origin.forgetTraffic()
        return fixture
    }

    @Test func aStoredRedirectIsFollowedAsTheHandlerWants() async throws {
        let fixture = try await redirected()
        let asked = Recorder<URL?>()
        let target = fixture.url("/c.png")
        let handler = AnyRedirectHandler { task, response, request, handler in
            asked.record(request.url)
            var request = request
            if response.statusCode == 301, task.originalURL?.path == "/a.png" {
                request.url = target
            }
            handler(request)
        }
        for use in ["4 fetched", "4 fresh"] {
            #expect(try await fixture.got([.redirectHandler(handler)]) == use)
        }
        #expect(asked.events == [fixture.url("/b.png"), fixture.url("/b.png")])
        #expect(fixture.origin.requests.map(\.path) == ["/c.png"])
        // Without it the redirect leads where its server said.
        #expect(try await fixture.got().hasPrefix("3 "))
    }

    @Test func aHandlerThatRefusesAStoredRedirectIsAskedAboutTheServersAnswer() async throws {
        let fixture = try await redirected()
        let asked = Recorder<URL?>()
        let handler = AnyRedirectHandler { _, _, request, handler in
            asked.record(request.url)
            handler(asked.count == 1 ? nil : request)
        }
        #expect(try await fixture.got([.redirectHandler(handler)]) == "3 validated")
        #expect(asked.count == 2 && fixture.origin.requests.map(\.path) == ["/a.png"])
    }
}
