import Foundation
import FoundationNetworking
import HalcyonTestKit
import Testing

@testable import Halcyon

/// Answers, clocks and requests as they should not be.
@Suite struct FreshnessErrorTests {
    private let fixture: FreshnessFixture

    init() async throws { fixture = try await FreshnessFixture() }

    // MARK: Answers

    @Test func a304MaySayTheLengthOfThePicture() async throws {
        let picture = FreshnessFixture.png(3)
        let fields = "Cache-Control: max-age=10\r\nETag: \"1\""
        let server = try await RawServer.start { request in
            let isKnown = request.contains("If-None-Match: \"1\"")
            let status = isKnown ? "304 Not Modified" : "200 OK"
            let length = isKnown ? 5 : picture.count
            let head = "HTTP/1.1 \(status)\r\n\(fields)\r\nContent-Length: \(length)\r\n\r\n"
            return Array(head.utf8) + (isKnown ? Data() : picture)
        }
        for use in ["fetched(stored: true)", "validated", "validated"] {
            let result = try await fixture.manager.retrieveImage(with: server.url("/a.png"))
            #expect("\(try #require(result.httpCacheUse))" == use)
            fixture.pass(100)
        }
        #expect(server.requests.count == 3 && server.connectionCount == 1)
    }

    @Test func a304ThatNobodyAskedForIsAnError() async throws {
        fixture.origin.route("/a.png", OriginResponse(status: 304))
        #expect(await fixture.errorCode() == 2002)
        #expect(await fixture.errorCode([.forceRefresh]) == 2002)
        #expect(fixture.count == 2)
    }

    @Test func a304AboutAnotherTagIsFollowedByOneCleanRequest() async throws {
        let fixture = try await FreshnessFixture.aged()
        fixture.origin.route("/a.png") { request in
            let isAsked = request.headers["If-None-Match"] != nil
            return (isAsked ? OriginResponse(status: 304) : FreshnessFixture.picture(4))
                .header("ETag", "\"2\"")
        }
        #expect(try await fixture.got() == "4 fetched")
        #expect(fixture.count == 3 && fixture.lastCondition == nil)
    }

    @Test func a304AboutAnotherTagTwiceIsAnError() async throws {
        let fixture = try await FreshnessFixture.aged()
        fixture.origin.route(
            "/a.png", OriginResponse(status: 304, headers: ["ETag": "\"2\"", "X-Answer": "last"]))
        let error = await kingfisherError { _ = try await fixture.get() }
        #expect(error?.isInvalidResponseStatusCode(304) == true)
        #expect(error?.answer?.value(forHTTPHeaderField: "X-Answer") == "last")
        #expect(fixture.count == 3 && fixture.lastCondition == nil)
        // The picture stays.
        fixture.serve(3, tag: "\"1\"")
        #expect(try await fixture.got() == "3 validated")
    }

    @Test func theLimitOfRedirectsHoldsForStoredOnesToo() async throws {
        for number in 0...10 {
            fixture.redirect("/\(number)", to: "/\(number + 1)", 301, "max-age=600")
        }
        fixture.serve(3, at: "/11")
        for _ in 0..<2 {
            let error = await kingfisherError { _ = try await fixture.get(at: "/0") }
            #expect(
                error?.transportError
                    == .tooManyRedirects(url: fixture.url("/0").absoluteString, limit: 10))
        }
        #expect(fixture.count == 11, "the second time all come from the cache")
        #expect(try await fixture.got(at: "/1") == "3 fetched")
    }

    // MARK: Clocks

    @Test func afterTheClockWasSetBackTheServerIsAsked() async throws {
        try await fixture.load(3, "max-age=600", tag: "\"1\"")
        #expect(try await fixture.got(after: -3_600) == "3 validated")
    }

    // MARK: Requests

    @Test(arguments: ["http:///a.png", "ftp://127.0.0.1/a.png", "data:,x"])
    func aURLThatCannotBeAskedIsTheSameErrorAsEver(_ text: String) async throws {
        let url = try #require(URL(string: text))
        func error(_ caching: HTTPCaching) async -> KingfisherError? {
            await kingfisherError {
                _ = try await fixture.get([
                    .httpCaching(caching), .requestModifier(changing { $0.url = url }),
                ])
            }
        }
        let known = try #require(await error(.off))
        let new = await error(.on)
        #expect(new?.errorCode == known.errorCode)
        #expect(new?.localizedDescription == known.localizedDescription)
    }

    @Test func anExpiredSignatureIsTheErrorAndTheNextOneValidates() async throws {
        fixture.manager.defaultOptions.append(.cacheKeyNormalizer(.signedURLs))
        fixture.serve(3, tag: "\"1\"")
        #expect(try await fixture.got(at: "/a.png?Signature=one") == "3 fetched")
        #expect(try await fixture.got(at: "/a.png?Signature=two") == "3 fresh")
        fixture.pass(100)
        fixture.origin.route("/a.png?Signature=two", .status(403))
        let error = await kingfisherError { _ = try await fixture.get(at: "/a.png?Signature=two") }
        #expect(error?.isInvalidResponseStatusCode(403) == true)
        #expect(try await fixture.got(at: "/a.png?Signature=three") == "3 validated")
        #expect(fixture.origin.requests.last?.query == "Signature=three")
    }
}
