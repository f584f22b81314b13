import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

/// Answers with header fields that mean little, and pictures all the same.
@Suite struct OddAnswerTests {
    private let downloader = ImageDownloader.patient()
    private let picture = FreshnessFixture.png(3)

    private func width(_ url: URL) async throws -> Int {
        try await downloader.downloadImage(with: url).image.pixelSize.width
    }

    @Test(arguments: ["none", "utf-8", "binary", "aws-chunked", "base64", "aws-chunked, utf-8"])
    func aPictureInACodingThatNobodyKnowsIsAPicture(coding: String) async throws {
        let server = try await OriginServer.start()
        server.route("/a.png", .png(picture).header("Content-Encoding", coding))
        #expect(try await width(server.url("/a.png")) == 3)
        #expect(server.requestCount == 1)
    }

    @Test func whatIsNoPictureIsToldByItsCoding() async throws {
        let server = try await OriginServer.start()
        server.route(
            "/a.png",
            .ok(Data(picture.base64EncodedString().utf8)).header("Content-Encoding", "Base64"))
        let url = server.url("/a.png")
        #expect(
            await downloader.result(url).transportError
                == .undecodableBody(
                    url: url.absoluteString, reason: "its content encoding is base64"))
    }

    @Test(arguments: [
        ("/caf\u{E9}.png", "/caf%E9.png"), ("/b/\u{FC}\u{E4}?q=\u{DF}", "/b/%FC%E4?q=%DF"),
        ("/%E9\u{E9}", "/%E9%E9"),
    ])
    func aLocationInLatin1LeadsWhereItsServerMeans(
        location: String, target: String
    ) async throws {
        let picture = picture
        let server = try await RawServer.start { request in
            guard !request.hasPrefix("GET /a ") else {
                let bytes = location.unicodeScalars.map { UInt8($0.value) }
                return Array("HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: ".utf8) + bytes
                    + Array("\r\n\r\n".utf8)
            }
            return Array("HTTP/1.1 200 OK\r\nContent-Length: \(picture.count)\r\n\r\n".utf8)
                + picture
        }
        #expect(try await width(server.url("/a")) == 3)
        #expect(server.requests.last?.hasPrefix("GET \(target) ") == true)
    }

    @Test func aLocationInUTF8IsEncodedAsEver() async throws {
        let server = try await OriginServer.start()
        server.route("/a", .redirect(to: "/caf\u{E9}.png"))
        server.route("/caf%C3%A9.png", .png(picture))
        _ = try? await width(server.url("/a"))
        #expect(server.requests.last?.target == "/caf%C3%A9.png")
    }
}
