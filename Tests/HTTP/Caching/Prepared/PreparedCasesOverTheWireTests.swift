import Foundation
import FoundationNetworking
import HalcyonTestKit
import Testing

@testable import HTTPCacheProxy
@testable import HalcyonHTTP

/// The prepared cases against the proxy: with real messages, the real response table and the real transport.
@Suite("Prepared cases over the wire", .enabled(if: PreparedCases.areThere))
struct PreparedCasesOverTheWireTests {
    /// The transport unpacks contents, so one in an unknown packing is none; and a client has no way to say
    /// that it wants even what is immutable to be validated.
    private static let unsent: Set = ["headers-store-Content-Encoding", "cc-resp-immutable-fresh"]

    @Test("A private proxy passes all cases that can be sent") func privateRole() async throws {
        let outcome = try await play(PreparedCases.privateSet.get(), .on)
        outcome.expect(
            "private role over the wire", missing: Missed.storedParts.union(Missed.choices),
            perhaps: Self.unsent, required: 136, optimal: 69)
    }

    @Test("A shared proxy passes all cases that can be sent") func sharedRole() async throws {
        var caching = HTTPCaching.shared
        caching.targetedFields = ["CDN-Cache-Control"]
        let outcome = try await play(PreparedCases.sharedSet.get(), caching)
        outcome.expect(
            "shared role over the wire",
            missing: Missed.storedParts.union(Missed.choices).union(Missed.conditionWithoutDate),
            perhaps: Self.unsent, required: 159, optimal: 97)
    }

    private func play(_ tests: [PreparedCase], _ caching: HTTPCaching) async throws -> Outcome {
        let folder = try TemporaryDirectory()
        let origin = try await OriginServer.start()
        let start = Date(timeIntervalSince1970: 1_790_000_000.9)
        let proxy = try await CachingProxy.start(
            port: 0, upstream: origin.baseURL.absoluteString, caching: caching, folder: folder.url,
            clock: ProxyClock(isManual: true, start: start))
        var configuration = HTTPClientConfiguration()
        configuration.connectTimeout = 600
        let transport = try CurlTransport.shared(for: configuration)
        let outcome = await Outcome.of(tests) { test in
            let cache = ProxyClient(
                base: "http://127.0.0.1:\(proxy.port)", transport: transport, server: origin,
                clock: proxy.clock)
            return test.failure(with: cache, start: proxy.clock.now)
        }
        try await proxy.stop()
        try await origin.shutdown()
        return outcome
    }
}

/// Sends the requests of a case to the proxy, whose server is the case's origin.
private struct ProxyClient: CaseCache {
    let base: String
    let transport: CurlTransport
    let server: OriginServer
    let clock: ProxyClock

    func answer(
        _ request: HTTPCacheRequest, of step: PreparedCase.Step, from origin: inout SimulatedOrigin
    ) -> SimulatedAnswer {
        let shared = server.route(request.url.path, to: origin, OriginResponse.init) { [clock] in
            clock.advance(by: $0.timeIntervalSince(clock.now))
        }
        var fields = request.fields
        if step.cache == "no-cache", !fields.contains("Cache-Control") {
            fields.append("Cache-Control", "max-age=0")
        }
        let answer = send(request.method, request.url, fields)
        // That is answered when nothing is under way in the background.
        let time = send("POST", URL(string: "\(base)/.clock?advance=0")!, [:])
        #expect(time?.status == 200)
        origin = shared.value
        return answer ?? SimulatedAnswer(status: 504, fields: [:], body: "")
    }

    /// Waits for the answer; `nil` when there is none.
    private func send(_ method: String, _ url: URL, _ fields: HTTPFields) -> SimulatedAnswer? {
        let target = url.query.map { "\(url.path)?\($0)" } ?? url.path
        var request = URLRequest(url: URL(string: base + target)!)
        request.httpMethod = method
        for line in fields.lines {
            request.addValue(line.value, forHTTPHeaderField: line.name)
        }
        let result = Locked<SimulatedAnswer?>(nil)
        let isDone = DispatchSemaphore(value: 0)
        Task { [request, transport] in
            defer { isDone.signal() }
            do {
                let answer = try await transport.answer(
                    to: request, terms: ExchangeTerms(stall: .seconds(600)))
                result.set(
                    SimulatedAnswer(
                        status: answer.head.status, fields: answer.head.fields,
                        body: String(decoding: answer.body, as: UTF8.self)))
            } catch {
                Issue.record(error)
            }
        }
        isDone.wait()
        return result.value
    }
}

extension OriginResponse {
    fileprivate init(_ answer: SimulatedAnswer) {
        var headers = HeaderFields()
        for line in answer.fields.lines { headers.add(line.name, line.value) }
        var body = answer.body
        let length = answer.fields.first("Content-Length").flatMap { Int($0) }
        // What were too much would be taken for the next answer.
        if let length { body = String(body.prefix(length)) }
        self.init(status: answer.status, headers: headers, body: .text(body))
        if let length, body.isEmpty { behaviours = [.declaredLength(length)] }
    }
}
