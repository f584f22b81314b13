import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

/// Validators and answers to conditions as servers really send them.
@Suite struct OddValidationTests {
    private static let picture = FreshnessFixture.png(3)

    private static func whole(_ fields: String) -> [UInt8] {
        Array("HTTP/1.1 200 OK\r\n\(fields)\r\nContent-Length: \(picture.count)\r\n\r\n".utf8)
            + picture
    }

    @Test(arguments: ["no-cache", "max-age=10"])
    func a304MaySayTheLengthOfThePicture(cacheControl: String) async throws {
        let fixture = try await FreshnessFixture()
        let fields = "Cache-Control: \(cacheControl)\r\nETag: \"1\""
        let server = try await RawServer.start { request in
            guard request.contains("If-None-Match: \"1\"") else { return Self.whole(fields) }
            return Array(
                "HTTP/1.1 304 Not Modified\r\n\(fields)\r\nContent-Length: 5\r\n\r\n".utf8)
        }
        var uses: [String] = []
        for _ in 0..<3 {
            let result = try await fixture.manager.retrieveImage(with: server.url("/a.png"))
            uses.append("\(try #require(result.httpCacheUse))")
            fixture.pass(100)
        }
        #expect(uses == ["fetched(stored: true)", "validated", "validated"])
        #expect(server.requests.count == 3)
        #expect(server.connectionCount == 1)
    }

    /// As nginx does it that compresses.
    @Test func aStrongTagConfirmsTheWeakOneWithoutASecondRequest() async throws {
        let fixture = try await FreshnessFixture()
        let server = try await RawServer.start { request in
            guard request.contains("If-None-Match: W/\"1\"") else {
                return Self.whole("Cache-Control: max-age=10\r\nETag: W/\"1\"")
            }
            return Array("HTTP/1.1 304 Not Modified\r\nETag: \"1\"\r\n\r\n".utf8)
        }
        for _ in 0..<3 {
            _ = try await fixture.manager.retrieveImage(with: server.url("/a.png"))
            fixture.pass(100)
        }
        #expect(server.requests.count == 3)
    }

    @Test func aStarIsNoTag() async throws {
        let fixture = try await FreshnessFixture()
        fixture.origin.route(
            "/a.png", .png(Self.picture).header("ETag", "*").cacheControl("max-age=10"))
        _ = try await fixture.get()
        fixture.pass(100)
        fixture.origin.route(
            "/a.png",
            .png(FreshnessFixture.png(4)).header("ETag", "*").cacheControl("max-age=10"))
        #expect(try await fixture.got() == "4 fetched")
        #expect(fixture.lastCondition == nil)
    }
}
