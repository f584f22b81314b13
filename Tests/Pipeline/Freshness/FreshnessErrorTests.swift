import Foundation
import FoundationNetworking
import HalcyonTestKit
import Testing

@testable import Halcyon

/// Answers, clocks and requests as they should not be.
@Suite struct FreshnessErrorTests {
    private let fixture: FreshnessFixture

    init() async throws { fixture = try await FreshnessFixture() }

    private func errorCode(
        _ fixture: FreshnessFixture, _ options: KingfisherOptionsInfo = []
    ) async -> Int? {
        await kingfisherError { _ = try await fixture.get(options) }?.errorCode
    }

    // MARK: Header fields

    @Test(arguments: [
        "max-age=banana", "max-age", "=60", "max-age=\"60", "max-age=-1", ",;,=\"", "mäx-age=60",
    ])
    func aCacheControlThatMakesNoSenseIsAtWorstStale(_ words: String) async throws {
        fixture.serve(3, words, tag: "\"1\"")
        #expect(try await fixture.got() == "3 fetched")
        #expect(try await fixture.got() == "3 validated")
    }

    /// More than the cache keeps of a header.
    enum Excess: CaseIterable, Sendable {
        case lines, bytes, namesInVary

        func added(to response: OriginResponse) -> OriginResponse {
            switch self {
            case .lines:
                var response = response
                for number in 0...200 { response.headers.add("X-\(number)", "x") }
                return response
            case .bytes:
                return response.header("X-Long", String(repeating: "x", count: 65 << 10))
            case .namesInVary:
                return response.header("Vary", (0...32).map { "x\($0)" }.joined(separator: ","))
            }
        }
    }

    @Test(arguments: Excess.allCases)
    func aPictureWithTooLongAHeaderIsDeliveredAndNotStored(excess: Excess) async throws {
        let response = OriginResponse.png(FreshnessFixture.png(3)).cacheControl("max-age=600")
        fixture.origin.route("/a.png", excess.added(to: response))
        #expect(try await fixture.got() == "3 fetched, unstored")
        #expect(try await fixture.cache.httpResponses().isEmpty)
        #expect(try await fixture.got() == "3 fetched, unstored")
    }

    @Test func aTagOfMoreThan8KiBIsNoValidator() async throws {
        let fixture = try await FreshnessFixture.aged()
        fixture.serve(3, tag: "\"\(String(repeating: "x", count: 8 << 10))\"")
        #expect(try await fixture.got() == "3 fetched")
        fixture.pass(100)
        #expect(try await fixture.got() == "3 fetched")
        #expect(fixture.lastCondition == nil)
    }

    @Test func aPictureUnderAVeryLongURLIsDeliveredAndNotStored() async throws {
        fixture.serve(3, "max-age=600")
        let path = "/a.png?x=\(String(repeating: "x", count: 33 << 10))"
        #expect(try await fixture.got(at: path) == "3 fetched, unstored")
        #expect(try await fixture.cache.httpResponses().isEmpty)
    }

    // MARK: Answers

    @Test func aPictureThatIsNotWholeIsNotStored() async throws {
        let count = FreshnessFixture.png(3).count
        fixture.serve(3, "max-age=600", [.declaredLength(count + 10)])
        let error = await kingfisherError { _ = try await fixture.get() }
        #expect(
            error?.isTransport(
                .incompleteBody(
                    url: fixture.url().absoluteString, received: Int64(count),
                    expected: Int64(count + 10))) == true)
        #expect(try await fixture.cache.httpResponses().isEmpty)
        fixture.serve(3, "max-age=600")
        #expect(try await fixture.got() == "3 fetched")
    }

    @Test func a304ThatNobodyAskedForIsAnError() async throws {
        fixture.origin.route("/a.png", OriginResponse(status: 304))
        #expect(await errorCode(fixture) == 2002)
        #expect(await errorCode(fixture, [.forceRefresh]) == 2002)
        #expect(fixture.count == 2)
    }

    @Test func a304AboutAnotherTagIsFollowedByOneCleanRequest() async throws {
        let fixture = try await FreshnessFixture.aged()
        fixture.origin.route("/a.png") { request in
            let isAsked = request.headers["If-None-Match"] != nil
            return
                (isAsked
                ? OriginResponse(status: 304)
                : OriginResponse.png(FreshnessFixture.png(4)).cacheControl("max-age=60"))
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

    @Test func aPartThatNobodyAskedForIsAnError() async throws {
        let fixture = try await FreshnessFixture.aged()
        let picture = FreshnessFixture.png(4)
        fixture.origin.route(
            "/a.png",
            OriginResponse(
                status: 206,
                headers: [
                    "Content-Type": "image/png", "ETag": "\"2\"",
                    "Content-Range": "bytes 0-\(picture.count - 1)/\(picture.count)",
                ], body: .data(picture)))
        #expect(await errorCode(fixture) == 2002)
        fixture.serve(3, tag: "\"1\"")
        #expect(try await fixture.got() == "3 validated")
    }

    @Test func aStoredLoopIsBrokenByAskingTheServer() async throws {
        for (path, target) in [("/a.png", "/b.png"), ("/b.png", "/a.png")] {
            fixture.origin.route(
                path, .redirect(to: target, status: 301).cacheControl("max-age=600"))
        }
        #expect(await errorCode(fixture) == 2003)
        fixture.origin.forgetTraffic()
        fixture.serve(3, "max-age=600")
        #expect(try await fixture.got() == "3 fetched")
        #expect(fixture.count == 1)
    }

    @Test func theLimitOfRedirectsHoldsForStoredOnesToo() async throws {
        for number in 0...10 {
            fixture.origin.route(
                "/\(number)",
                .redirect(to: "/\(number + 1)", status: 301).cacheControl("max-age=600"))
        }
        fixture.serve(3, at: "/11")
        for _ in 0..<2 {
            let error = await kingfisherError { _ = try await fixture.get(at: "/0") }
            #expect(
                error?.isTransport(
                    .tooManyRedirects(url: fixture.url("/0").absoluteString, limit: 10)) == true)
        }
        #expect(fixture.count == 11, "the second time all come from the cache")
        #expect(try await fixture.got(at: "/1") == "3 fetched")
    }

    // MARK: Clocks

    @Test(arguments: [
        ("Sun, 06 Nov 1994 08:49:37 GMT", "3 validated"),
        ("Fri, 06 Nov 2093 08:49:37 GMT", "3 fresh"),
    ])
    func aDateThatIsYearsOffIsNoError(_ date: String, _ use: String) async throws {
        fixture.origin.route(
            "/a.png",
            .png(FreshnessFixture.png(3)).cacheControl("max-age=600").header("Date", date)
                .with(.entityTag("\"1\"")))
        #expect(try await fixture.got() == "3 fetched")
        for _ in 0..<2 { #expect(try await fixture.got() == use) }
    }

    @Test func afterTheClockWasSetBackTheServerIsAsked() async throws {
        fixture.serve(3, "max-age=600", tag: "\"1\"")
        _ = try await fixture.get()
        fixture.pass(-3_600)
        #expect(try await fixture.got() == "3 validated")
    }

    // MARK: Requests

    @Test(arguments: ["http:///a.png", "ftp://127.0.0.1/a.png", "data:,x"])
    func aURLThatCannotBeAskedIsTheSameErrorAsEver(_ text: String) async throws {
        let url = try #require(URL(string: text))
        let modifier = AnyModifier { request in
            var request = request
            request.url = url
            return request
        }
        func error(_ caching: HTTPCaching) async throws -> KingfisherError {
            try #require(
                await kingfisherError {
                    _ = try await fixture.get([.httpCaching(caching), .requestModifier(modifier)])
                })
        }
        let known = try await error(.off)
        let new = try await error(.on)
        #expect(new.errorCode == known.errorCode)
        #expect(new.localizedDescription == known.localizedDescription)
    }

    @Test func anExpiredSignatureIsTheErrorAndTheNextOneValidates() async throws {
        fixture.manager.defaultOptions.append(.cacheKeyNormalizer(.signedURLs))
        fixture.serve(3, tag: "\"1\"")
        #expect(try await fixture.got(at: "/a.png?Signature=one") == "3 fetched")
        #expect(try await fixture.got(at: "/a.png?Signature=two") == "3 fresh")
        fixture.pass(100)
        fixture.origin.route("/a.png?Signature=two", .status(403))
        let error = await kingfisherError {
            _ = try await fixture.get(at: "/a.png?Signature=two")
        }
        #expect(error?.isInvalidResponseStatusCode(403) == true)
        #expect(try await fixture.got(at: "/a.png?Signature=three") == "3 validated")
        #expect(fixture.origin.requests.last?.query == "Signature=three")
    }
}

extension KingfisherError {
    /// Whether the transfer failed for this reason.
    fileprivate func isTransport(_ reason: ImageTransportError) -> Bool {
        guard case .responseError(reason: .URLSessionError(let error)) = self else { return false }
        return error as? ImageTransportError == reason
    }
}
