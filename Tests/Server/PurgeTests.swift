import Foundation
import HalcyonHTTP
import HalcyonPixels
@testable import HalcyonServer
import HalcyonTestKit
import HalcyonWork
import Testing

/// What is forgotten by order, and what is made before anybody asks.
@Suite struct PurgeTests {
    private let old = PNGFixture.green
    private let new = PNGFixture.red
    private let folder: TemporaryDirectory

    private func start(_ change: LiveServer.Change = { _ in }) async throws -> LiveServer {
        try await LiveServer.start(origin) {
            $0.cache.directory = folder.url.path
            try change(&$0)
        }
    }

    private let origin: OriginServer

    /// `/a.png` and `/b.png` have one tag, whatever they show: the server is wrong.
    init() async throws {
        folder = try TemporaryDirectory()
        origin = try await OriginServer.start()
        for path in ["/a.png", "/b.png"] { route(path, old) }
    }

    private func route(_ path: String, _ picture: Data) {
        origin.route(path, .png(picture).with(.entityTag("\"1\"")))
    }

    private func target(_ url: URL, _ options: String = "w:10") -> String {
        origin.target(url.path, options)
    }

    private func order(
        _ live: LiveServer, _ path: String, _ body: String, fields: [String: String] = [:]
    ) async throws -> LiveServer.Answer {
        try await live.ask(
            path, method: "POST", fields: fields, body: Data(body.utf8), operations: true)
    }

    @Test func aPurgeOfASourceReachesAllThatWasMadeOfIt() async throws {
        let live = try await start()
        let (a, b) = (origin.url("/a.png"), origin.url("/b.png"))
        for target in [target(a), target(a, "w:20"), target(b)] {
            #expect(try color(try await live.ask(target)) == [10, 200, 30])
        }
        route("/a.png", new)
        #expect(try await live.purge("source", a.absoluteString) == .purged(2, 1))
        for options in ["w:10", "w:20", "w:5"] {
            #expect(try color(try await live.ask(target(a, options))) == [200, 10, 30])
        }
        #expect(try await live.ask(target(b))["Cache-Status"]?.contains("hit") == true)
        #expect(origin.requestCount == 3)
        #expect(try await live.purge("{\"source\":\"\(a.absoluteString)?x\"}").contains(":0"))
    }

    @Test func aServerKnowsAfterARestartWhatItsPicturesWereMadeOf() async throws {
        let (a, b) = (origin.url("/a.png"), origin.url("/b.png"))
        let first = try await start()
        for target in [target(a), target(a, "w:20"), target(b)] {
            #expect(try await first.ask(target).status == 200)
        }
        await first.listening.stop()
        let second = try await start()
        #expect(try await second.purge("source", a.absoluteString) == .purged(2, 1))
        for place in ["disk", "memory"] {
            #expect(try await second.ask(target(b)).hasDetail(place))
        }
        #expect(origin.requestCount == 2)
    }

    @Test func aPurgeByPrefixReachesAllSourcesThatBeginSo() async throws {
        let live = try await start()
        let paths = ["/2024/a.png", "/2024/b.png", "/2025/a.png"]
        for path in paths { route(path, old) }
        for path in paths { _ = try await live.ask(origin.target(path)) }
        let prefix = origin.url("/2024/").absoluteString
        #expect(try await live.purge("prefix", prefix) == .purged(2, 2))
        for path in paths { _ = try await live.ask(origin.target(path)) }
        #expect(origin.requestCount == 5)
        #expect(try await live.purge("{\"all\":true}") == .purged(3, 3))
        _ = try await live.ask(origin.target("/2025/a.png"))
        #expect(origin.requestCount == 6)
    }

    @Test func aPurgeByURLReachesThatPictureInAllFormats() async throws {
        let live = try await start {
            $0.negotiation.formats = ["webp"]
            $0.negotiation.usesClientHints = true
        }
        let url = origin.url("/a.png")
        for accept in ["image/webp", "image/png"] {
            for target in [target(url), target(url, "h:7")] {
                _ = try await live.ask(target, fields: ["Accept": accept])
            }
        }
        _ = try await live.ask(target(url), fields: ["Sec-CH-DPR": "2", "Accept": "image/png"])
        #expect(try await live.purge("url", target(url)) == .purged(3, 0))
        let other = try await live.ask(target(url, "h:7"), fields: ["Accept": "image/png"])
        #expect(other["Cache-Status"]?.contains("hit") == true)
        let made = try await live.ask(target(url), fields: ["Accept": "image/png"])
        #expect(made["Cache-Status"]?.contains("fwd=uri-miss") == true)
        #expect(origin.requestCount == 1)
    }

    @Test(arguments: [false, true])
    func aPurgeByURLReachesTheFallbackThatItShows(isFetched: Bool) async throws {
        route("/fallback.png", old)
        let live = try await start {
            let url = isFetched ? origin.url("/fallback.png").absoluteString : nil
            $0.fallback.picture.url = url
            $0.fallback.picture.data = url == nil ? old.base64EncodedString() : nil
            $0.processing.allowsRaw = true
        }
        // The answer for a source that is not there as it is would be the fallback as a picture.
        let targets = ["w:10", "w:20", "raw:1"].map { origin.target("/missing.png", $0) }
        for target in targets {
            let answer = try await live.ask(target)
            answer.expect(200, ["Fallback-Image": "1"])
        }
        for shown in [0, 2] {
            #expect(try await live.purge("url", targets[shown]) == .purged(1, 0))
            for (number, target) in targets.enumerated() {
                let status = try await live.ask(target)["Cache-Status"]
                #expect(status?.contains("hit") == (number != shown), "\(target): \(status ?? "")")
            }
        }
    }

    @Test func aPurgeOfTheFallbacksSourceReachesAllThatWasMadeOfIt() async throws {
        route("/fallback.png", old)
        let source = origin.url("/fallback.png").absoluteString
        let live = try await start { $0.fallback.picture.url = source }
        let targets = ["w:10", "w:20"].map { origin.target("/missing.png", $0) }
        for target in targets { #expect(try color(try await live.ask(target)) == [10, 200, 30]) }
        route("/fallback.png", new)
        #expect(try await live.purge("source", source) == .purged(2, 1))
        for target in targets { #expect(try color(try await live.ask(target)) == [200, 10, 30]) }
    }

    @Test func picturesThatAreNotOnTheDiskYetAreCounted() async throws {
        let live = try await start()
        let url = origin.url("/a.png")
        for round in 1...5 {
            for width in 1...6 { _ = try await live.ask(target(url, "w:\(width)")) }
            // Some have come to the disk by now, and some have not.
            let report = try await live.purge("source", url.absoluteString)
            #expect(report == .purged(6, 1), "round \(round)")
        }
        #expect(origin.requestCount == 5)
    }

    @Test func nobodyJoinsAFetchAfterItHasBeenForgottenThatItWasUnderWay() async throws {
        let tasks = SharedTasks<String, Int>()
        let joinable = Recorder<Bool>()
        let (outcome, _) = await tasks.value(
            for: "a", until: Ending(), work: { _ in .success(1) },
            afterwards: { joinable.record(tasks.isUnderWay("a")) })
        #expect(try outcome.get() == 1)
        #expect(await joinable.waitFor(count: 1) == [false])
    }

    @Test(arguments: [200, 404])
    func whoAsksAfterAPurgeDoesNotShareTheFetchFromBefore(status: Int) async throws {
        let gate = Gate()
        let response = status == 200 ? OriginResponse.png(old) : .status(status)
        origin.route("/a.png", response.with(.entityTag("\"1\""), .wait(.gate(gate))))
        let live = try await start()
        let url = origin.url("/a.png")
        async let before = live.ask(target(url))
        await origin.waitForRequests(1)
        _ = try await live.purge("source", url.absoluteString)
        route("/a.png", new)
        #expect(try color(try await live.ask(target(url))) == [200, 10, 30])
        gate.open()
        #expect(try await before.status == status)
        // Neither a picture nor a failure of the former fetch is kept.
        for options in ["w:10", "w:11"] {
            #expect(try color(try await live.ask(target(url, options))) == [200, 10, 30])
        }
        #expect(origin.requestCount == 2)
    }

    @Test(arguments: [
        ("HTTPS://IMG.Example.com:443/2024/", "https://img.example.com/2024/"),
        ("http://example.com:80/A", "http://example.com/A"),
        ("http://example.com:8080/A", "http://example.com:8080/A"),
        ("https://example.com:44", "https://example.com:44"), ("example", "example"),
    ])
    func aPrefixIsSpelledAsURLsAre(prefix: String, normalized: String) {
        #expect(Purge.normalized(prefix: prefix) == normalized)
    }

    @Test func ordersAreTakenFromOperatorsOnly() async throws {
        let open = try await start()
        let page = try await order(
            open, "/purge", "{\"all\":true}", fields: ["Origin": "https://example.com"])
        #expect(page.status == 403)
        let closed = try await start { $0.operationsToken = "open sesame" }
        #expect(try await order(closed, "/purge", "{\"all\":true}").status == 403)
        let right = ["Authorization": "Bearer open sesame"]
        #expect(try await order(closed, "/purge", "{\"all\":true}", fields: right).status == 200)
        let everywhere = try await start { $0.operationsBind = .tcp(host: "0.0.0.0", port: 0) }
        for path in ["/purge", "/warm"] {
            #expect(try await order(everywhere, path, "{\"all\":true}").status == 404)
            #expect(try await everywhere.ask(path, method: "POST", body: Data()).status == 405)
        }
        #expect(try await everywhere.ask("/cache", operations: true).status == 404)
    }

    @Test(arguments: [
        "", "[]", "{}", "{\"all\":false}", "{\"all\":true,\"source\":\"x\"}", "{\"prefix\":\"\"}",
        "{\"source\":\"ftp://example.com/\"}", "{\"source\":\"https://example.com/a.png\"}",
        "{\"url\":\"x\"}", "{\"url\":\"/_/w:-1/plain/local:///a.png\"}",
    ])
    func anOrderThatMakesNoSenseIsRefused(body: String) async throws {
        let live = try await LiveServer.start()
        let answer = try await order(live, "/purge", body)
        #expect((400...404).contains(answer.status), "\(answer.status)")
        #expect(answer.text.count > 10)
    }

    @Test func picturesAreMadeBeforeAnybodyAsks() async throws {
        let live = try await start { $0.negotiation.formats = ["webp"] }
        let target = origin.target("/a.png")
        let answer = try await order(
            live, "/warm",
            "{\"urls\":[\"\(target)\",\"/_/w:-1/plain/x\",\"/live\"],"
                + "\"accept\":[\"image/webp\",\"image/png\"]}")
        #expect(answer.status == 202)
        let id = try #require(try answer.json["id"] as? String)
        await live.server.warming.wait(untilFinished: id)
        let progress = try await live.ask("/warm/\(id)", operations: true).text
        #expect(progress.contains("\"isFinished\":true"))
        #expect(progress.contains("\"done\":2,\"failed\":4"))
        #expect(progress.contains("\"/_/w:-1/plain/x\":\"invalid_option\""))
        #expect(progress.contains("\"/live\":\"not_found\""))
        for accept in ["image/webp", "image/png"] {
            #expect(try await live.ask(target, fields: ["Accept": accept]).hasDetail("memory"))
        }
        #expect(origin.requestCount == 1)
        #expect(try await live.ask("/warm/none", operations: true).status == 404)
    }

    @Test func warmingEndsWithTheServerThoughNoPlaceBecomesFree() async throws {
        let (origin, gate) = try await OriginServer.gated()
        let live = try await LiveServer.start(origin) {
            $0.work.downloads = 1
            $0.work.downloadsPerHost = 1
            $0.drain.timeout = .seconds(1200)
        }
        async let held = live.ask(origin.target())
        await origin.waitForRequests(1)
        let target = String.china("w:20")
        let answer = try await order(live, "/warm", "{\"urls\":[\"\(target)\"]}")
        let id = try #require(try answer.json["id"] as? String)
        async let hasEnded = live.listening.stop()
        await live.server.warming.wait(untilFinished: id)
        #expect(live.server.warming.progress(of: id)?.failures == [target: "draining"])
        gate.open()
        #expect(try await held.status == 200)
        #expect(await hasEnded)
    }

    @Test func aServerTellsWhatItKeeps() async throws {
        let live = try await LiveServer.start()
        for _ in 0..<4 { _ = try await live.ask(.china("w:30")) }
        let answer = try await live.ask("/cache", operations: true)
        #expect(answer["Content-Type"] == "application/json")
        #expect(answer.text.contains("\"hitRates\":{\"1\":0.75,\"15\":0.75,\"5\":0.75}"))
        #expect(answer.text.contains("\"limit\":4294967296"))
    }
}
