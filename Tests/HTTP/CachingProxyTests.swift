import Foundation
import FoundationNetworking
import HalcyonTestKit
import Testing

@testable import HTTPCacheProxy
@testable import HalcyonHTTP

/// The proxy of scripts/http-cache-proxy.
@Suite struct CachingProxyTests {
    let folder: TemporaryDirectory
    let origin: OriginServer

    init() async throws {
        folder = try TemporaryDirectory()
        origin = try await OriginServer.start()
        origin.route(
            "/a",
            .ok(Data("content".utf8), contentType: "text/plain").cacheControl("max-age=10")
                .with(.entityTag("\"1\"")))
    }

    private func start(manualClock: Bool = true) async throws -> CachingProxy {
        try await CachingProxy.start(
            port: 0, upstream: origin.baseURL.absoluteString, caching: .on, folder: folder.url,
            clock: ProxyClock(isManual: manualClock))
    }

    private struct Answer {
        let status: Int
        let body: String
        let fields: HTTPFields
        var cacheStatus: String? { fields.first("Cache-Status") }
    }

    private func ask(
        _ proxy: CachingProxy, _ target: String, method: String = "GET",
        fields: [String: String] = [:]
    ) async throws -> Answer {
        var request = URLRequest(url: URL(string: "http://127.0.0.1:\(proxy.port)\(target)")!)
        request.httpMethod = method
        request.allHTTPHeaderFields = fields
        let transport = try CurlTransport.shared(for: HTTPClientConfiguration())
        let (head, body) = try await transport.answer(
            to: request, terms: ExchangeTerms(stall: .seconds(600)))
        return Answer(
            status: head.status, body: String(decoding: body, as: UTF8.self),
            fields: HTTPFields(head))
    }

    @Test func answersTellWhatTheCacheDid() async throws {
        let proxy = try await start()
        let first = try await ask(proxy, "/a")
        #expect(first.status == 200 && first.body == "content")
        #expect(first.cacheStatus == "Halcyon; fwd=uri-miss; fwd-status=200; stored")
        let time = try await ask(proxy, "/.clock?advance=4", method: "POST")
        let now = try await ask(proxy, "/.clock")
        #expect(time.body == now.body && time.status == 200)
        let second = try await ask(proxy, "/a")
        #expect(second.body == "content")
        #expect(second.fields.first("Age") == "4")
        #expect(second.cacheStatus == "Halcyon; hit; ttl=6")
        _ = try await ask(proxy, "/.clock?advance=6", method: "POST")
        let third = try await ask(proxy, "/a")
        #expect(third.body == "content")
        #expect(third.cacheStatus == "Halcyon; fwd=stale; fwd-status=304; ttl=10")
        let posted = try await ask(proxy, "/a", method: "POST")
        #expect(posted.cacheStatus == "Halcyon; fwd=method; fwd-status=200")
        let reloaded = try await ask(proxy, "/a", fields: ["Cache-Control": "no-cache"])
        #expect(reloaded.cacheStatus?.hasPrefix("Halcyon; fwd=request; fwd-status=304") == true)
        #expect(origin.requestCount == 4)
        try await proxy.stop()
    }

    @Test func partsAndConditionsAreAnsweredFromWhatIsStored() async throws {
        let proxy = try await start()
        _ = try await ask(proxy, "/a")
        let part = try await ask(proxy, "/a", fields: ["Range": "bytes=2-4"])
        #expect(part.status == 206 && part.body == "nte")
        #expect(part.fields.first("Content-Range") == "bytes 2-4/7")
        let known = try await ask(proxy, "/a", fields: ["If-None-Match": "\"1\""])
        #expect(known.status == 304 && known.body.isEmpty)
        #expect(origin.requestCount == 1)
        try await proxy.stop()
    }

    @Test func whatIsStoredIsThereAfterARestart() async throws {
        // Here the clock is that of the machine.
        origin.route("/a", .ok(Data("content".utf8)).cacheControl("max-age=86400"))
        let first = try await start(manualClock: false)
        _ = try await ask(first, "/a")
        try await first.stop()
        let second = try await start(manualClock: false)
        #expect(try await ask(second, "/a").cacheStatus?.hasPrefix("Halcyon; hit") == true)
        #expect(try await ask(second, "/.clock").status == 404, "that is the origin's")
        try await second.stop()
    }

    @Test func withoutAnAnswerThereIsA504() async throws {
        origin.route("/closed", .abort())
        let proxy = try await start()
        #expect(try await ask(proxy, "/closed").status == 504)
        let wanted = try await ask(
            proxy, "/a", fields: ["Cache-Control": "only-if-cached"])
        #expect(wanted.status == 504 && wanted.body.isEmpty)
        try await proxy.stop()
    }

    @Test(arguments: ["", "/.clock?advance=x", "/.clock?advance=inf"])
    func aClockThatIsAskedForNonsenseStays(target: String) async throws {
        let proxy = try await start()
        let before = proxy.clock.now
        let answer = try await ask(
            proxy, target.isEmpty ? "/.clock" : target, method: "POST")
        #expect(answer.status == 400)
        #expect(proxy.clock.now == before)
        try await proxy.stop()
    }
}
