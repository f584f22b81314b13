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

    @Test func a304MaySayTheLengthOfThePicture() async throws {
        let fixture = try await FreshnessFixture()
        let fields = "Cache-Control: max-age=10\r\nETag: \"1\""
        let server = try await RawServer.start { request in
            guard request.contains("If-None-Match: \"1\"") else { return Self.whole(fields) }
            return Array(
                "HTTP/1.1 304 Not Modified\r\n\(fields)\r\nContent-Length: 5\r\n\r\n".utf8)
        }
        for use in ["fetched(stored: true)", "validated", "validated"] {
            let result = try await fixture.manager.retrieveImage(with: server.url("/a.png"))
            #expect("\(try #require(result.httpCacheUse))" == use)
            fixture.pass(100)
        }
        #expect(server.requests.count == 3 && server.connectionCount == 1)
    }
}
