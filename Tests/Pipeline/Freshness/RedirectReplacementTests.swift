import Foundation
import FoundationNetworking
import HalcyonStorage
import HalcyonTestKit
import HalcyonWork
import Testing

@testable import Halcyon

/// Redirects that come where a picture is stored.
@Suite struct RedirectReplacementTests {
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

    @Test func theRedirectOfARequestThatWantsNothingStoredLeavesTheStoredPicture() async throws {
        let fixture = try await FreshnessFixture.aged()
        fixture.redirect(to: "/b.png", 302)
        fixture.serve(4, at: "/b.png")
        let modifier = setting(["Cache-Control": "no-store"])
        #expect(try await fixture.got([.requestModifier(modifier)]) == "4 fetched, unstored")
        fixture.serve(3, tag: "\"1\"")
        #expect(try await fixture.got() == "3 validated")
    }

    @Test func theRedirectThatAnswersAPostLeavesTheStoredPicture() async throws {
        let fixture = try await FreshnessFixture.aged()
        fixture.redirect(to: "/done.png", 303)
        fixture.serve(4, "no-store", at: "/done.png")
        let posting = changing { $0.httpMethod = "POST" }
        #expect(try await fixture.got([.requestModifier(posting)]) == "4 fetched, unstored")
        #expect(fixture.origin.requests.map(\.method) == ["GET", "POST", "GET"])
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
        #expect(asked.count == 2)
        #expect(fixture.origin.requests.map(\.path) == ["/a.png"])
    }
}
