import Foundation
import HalcyonServer
import HalcyonTestKit
import Testing

/// What is told of a source.
@Suite struct InfoTests {
    private func ask(_ live: LiveServer, _ target: String) async throws -> [String: Any] {
        let answer = try await live.ask(target)
        #expect(answer.status == 200, "\(answer.text)")
        #expect(answer["Content-Type"] == "application/json")
        return try #require(
            try JSONSerialization.jsonObject(with: answer.body) as? [String: Any])
    }

    @Test func withoutOptionsAllThatTheHeaderSaysIsTold() async throws {
        let live = try await LiveServer.start()
        let info = try await ask(live, "/info/_/plain/local:///china.jpg")
        #expect(info["width"] as? Int == 640)
        #expect(info["height"] as? Int == 427)
        #expect(info["format"] as? String == "jpeg")
        #expect(info["mimeType"] as? String == "image/jpeg")
        #expect(info["size"] as? Int == 196_653)
        #expect(info["pages"] as? Int == 1)
        #expect(info.count == 6)
    }

    @Test func optionsSayWhatIsTold() async throws {
        let live = try await LiveServer.start()
        let info = try await ask(live, "/info/_/d:1/s:0/animation:1/plain/local:///kingfisher.gif")
        #expect(Set(info.keys) == ["width", "height", "frames", "delays", "loop", "duration"])
        #expect(info["frames"] as? Int == (info["delays"] as? [Int])?.count)
        let digest = try await ask(live, "/info/_/hash:sha256/plain/local:///china.jpg")
        #expect((digest["sha256"] as? String)?.utf8.count == 64)
        #expect(digest.count == 1)
    }

    @Test func aClientThatKnowsItGetsNoneAgain() async throws {
        let live = try await LiveServer.start()
        let target = "/info/_/d:1/plain/local:///china.jpg"
        let tag = try #require(try await live.ask(target)["ETag"])
        #expect(try await live.ask(target, fields: ["If-None-Match": tag]).status == 304)
        let other = "/info/_/s:1/plain/local:///china.jpg"
        #expect(try await live.ask(other, fields: ["If-None-Match": tag]).status == 200)
    }

    @Test func informationIsSignedLikePictures() async throws {
        let live = try await LiveServer.start {
            $0.signature.keys = ["736563726574"]
            $0.signature.salts = ["68656c6c6f"]
            $0.signature.isRequired = true
        }
        let signed = try #require(live.server.sign("/plain/local:///china.jpg"))
        #expect(try await live.ask("/info\(signed)").status == 200)
        #expect(try await live.ask("/info/_/plain/local:///china.jpg").status == 403)
        let events = await live.log.wait { $0.count { $0.message == "request" } >= 2 }
        #expect(!events.contains { "\($0.metadata)".contains("3880GaJks") })
    }

    @Test(arguments: [
        ("/info/_/nothing:1/plain/local:///china.jpg", 404, "invalid_option"),
        ("/info/_/blurhash:4:3/plain/local:///china.jpg", 404, "unsupported_option"),
        ("/info/_/s:2/plain/local:///china.jpg", 404, "invalid_option"),
        ("/info/_/hash:md5/plain/local:///china.jpg", 404, "invalid_option"),
        ("/info/_/plain/local:///no.jpg", 404, "source_not_found"),
        ("/info/_/plain/local:///CREDITS.md", 422, "source_format"),
        ("/info/_", 404, "invalid_path"),
    ])
    func failuresHaveTheirStatusAndCode(target: String, status: Int, code: String) async throws {
        let live = try await LiveServer.start()
        let answer = try await live.ask(target, fields: ["Accept": "application/json"])
        #expect(answer.status == status)
        #expect(answer.text.contains("\"code\":\"\(code)\""), "\(answer.text)")
    }
}
