import Foundation
import HalcyonHTTP
@testable import HalcyonServer
import HalcyonTestKit
import HalcyonWork
import Logging
import Testing

/// Health, metrics, the log, and the end of a server.
@Suite struct OperationsTests {
    @Test func aServerTellsWhetherItIsReady() async throws {
        let live = try await LiveServer.start()
        for path in ["/live", "/ready", "/health"] {
            #expect(try await live.ask(path).text == "ok\n")
            #expect(try await live.ask(path, operations: true).status == 200)
        }
        let port = try #require(live.listening.operationsPort)
        let closed = try ClosedPort()
        #expect(
            await ServerHealth.isReady(
                at: .tcp(host: "127.0.0.1", port: port), within: .seconds(240)))
        #expect(await !ServerHealth.isReady(at: .tcp(host: "127.0.0.1", port: closed.number)))
    }

    @Test func aTrialThatFailsIsToldUntilOneSucceeds() async {
        var schedule = CheckSchedule()
        let start = ContinuousClock.now
        func look(_ seconds: Int) -> String {
            let (fault, begins) = schedule.look(at: start + .seconds(seconds))
            return "\(fault ?? "-") \(begins)"
        }
        #expect([0, 1, 61].map(look) == ["- true", "- false", "decoding_stuck false"])
        schedule.end(works: false)
        #expect([62, 70].map(look) == ["decoding_failed true", "decoding_failed false"])
        schedule.end(works: true)
        #expect([71, 123].map(look) == ["- false", "- true"])
        let check = CodecCheck(.system) { false }
        await check.look().trial?.value
        #expect(check.fault == "decoding_failed")
    }

    @Test func aSocketHasThePermissionsOfTheSettings() async throws {
        let folder = try TemporaryDirectory()
        for mode in ["0660", "600"] {
            let path = folder.file("\(mode).sock").path
            let live = try await LiveServer.start {
                $0.bind = [.unix(path: path)]
                $0.bindMode = try #require(SocketMode(mode))
            }
            let found = try FileManager.default.attributesOfItem(atPath: path)
            #expect(found[.posixPermissions] as? Int == Int(mode, radix: 8))
            await live.listening.stop()
        }
        #expect(SocketMode("0888") == nil && SocketMode("1777") == nil && SocketMode("") == nil)
        #expect(SocketMode("77")?.description == nil && SocketMode("044")?.description == "0044")
    }

    @Test func shortKeysAreWarnedOfWhereOthersCanConnect() async throws {
        for (host, count, warnings) in [
            ("0.0.0.0", 16, 1), ("0.0.0.0", 32, 0), ("127.0.0.1", 8, 0),
        ] {
            let live = try await LiveServer.start {
                $0.bind = [.tcp(host: host, port: 0)]
                $0.signature.keys = [String(repeating: "ab", count: count)]
                $0.signature.salts = [String(repeating: "cd", count: count)]
                $0.signature.isRequired = true
            }
            let found = live.log.events.filter { $0.level == .warning }
            #expect(found.count == warnings)
            #expect(found.allSatisfy { $0.message.contains("16 bytes; 32 are recommended") })
        }
    }

    @Test func metricsAgreeWithTheRequestsThatWereMade() async throws {
        let live = try await LiveServer.start()
        for _ in 0..<3 { _ = try await live.ask(.china("w:30")) }
        _ = try await live.ask("/_/plain/local:///no.jpg")
        let answer = try await live.ask("/metrics", operations: true)
        #expect(answer["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8")
        let lines = Set(answer.text.split(separator: "\n").map(String.init))
        let expected = [
            "# TYPE halcyon_http_requests_total counter",
            "halcyon_http_requests_total{route=\"processing\",status=\"200\"} 3",
            "halcyon_http_requests_total{route=\"processing\",status=\"404\"} 1",
            "halcyon_errors_total{code=\"source_not_found\"} 1",
            "halcyon_images_total{in=\"jpeg\",out=\"jpeg\"} 1",
            "halcyon_cache_requests_total{cache=\"result\",tier=\"memory\",result=\"hit\"} 2",
            "halcyon_http_request_duration_seconds_count{route=\"processing\",cache=\"hit\"} 2",
            "halcyon_http_response_bytes_bucket{format=\"jpeg\",le=\"+Inf\"} 3",
            "halcyon_pixels_total{direction=\"in\"} 273280",
            "halcyon_pixels_total{direction=\"out\"} 600",
        ]
        for line in expected { #expect(lines.contains(line), "\(line)") }
    }

    @Test func metricsHaveTheTextFormOfPrometheus() async throws {
        let live = try await LiveServer.start()
        _ = try await live.ask(.china("w:30"))
        let text = try await live.ask("/metrics", operations: true).text
        var types: [String: String] = [:]
        for line in text.split(separator: "\n") {
            if line.hasPrefix("# TYPE ") {
                let words = line.split(separator: " ")
                #expect(types[String(words[2])] == nil, "\(line) is there twice")
                types[String(words[2])] = String(words[3])
            } else if !line.hasPrefix("#") {
                let pattern = /^([a-z_]+)(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? [-+0-9.eInf]+$/
                let match = try #require(line.wholeMatch(of: pattern), "\(line)")
                let name = String(match.1)
                let family = ["_bucket", "_sum", "_count"].reduce(name) {
                    types[$0] == nil && $0.hasSuffix($1) ? String($0.dropLast($1.count)) : $0
                }
                #expect(types[family] != nil, "\(name) has no type")
            }
        }
        #expect(types["halcyon_gate_limit"] == "gauge")
        for name in ["cache_bytes", "cache_limit_bytes", "vips_memory_bytes"] {
            #expect(types["halcyon_" + name] == "gauge", "\(name)")
        }
        #expect(types["process_cpu_seconds_total"] == "counter")
    }

    /// The values of metrics by their names and labels.
    private func values(_ live: LiveServer) async throws -> [String: Double] {
        let text = try await live.ask("/metrics", operations: true).text
        var values: [String: Double] = [:]
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            let words = line.split(separator: " ")
            values[String(words[0])] = Double(words[1])
        }
        return values
    }

    @Test func memoryIsToldInItsParts() async throws {
        let live = try await LiveServer.start()
        _ = try await live.ask(.china("w:30"))
        let values = try await values(live)
        func part(_ name: String) throws -> Double {
            try #require(values["halcyon_memory_bytes{part=\"\(name)\"}"], "\(name)")
        }
        func resident(_ kind: String) throws -> Double {
            try #require(values["halcyon_resident_memory_bytes{kind=\"\(kind)\"}"], "\(kind)")
        }
        for name in ["heap", "heap_unused", "pixels", "pixels_waiting"] {
            #expect(try part(name) >= 0, "\(name)")
        }
        // The picture in the cache is on the heap.
        let cached = try #require(values["halcyon_cache_bytes{cache=\"result\",tier=\"memory\"}"])
        #expect(try part("heap") >= cached && cached > 0)
        let total = try #require(values["process_resident_memory_bytes"])
        let kinds = try ["anonymous", "file", "shared"].map(resident)
        #expect(kinds[0] > 0 && kinds[1] > 0 && total > 0)
    }

    @Test func residentMemoryIsReadAsTheKernelTellsIt() throws {
        let text = "Name:\thalcyon\nVmRSS:\t  900 kB\nRssAnon:\t  500 kB\nRssFile:\t  300 kB\n"
        #expect(ResidentMemory(status: text) == nil)
        let memory = try #require(ResidentMemory(status: text + "RssShmem:\t  100 kB\n"))
        #expect(memory.anonymous == 512_000 && memory.ofFiles == 307_200)
        #expect(memory.shared == 102_400)
    }

    @Test func sourcesThatAreRefusedAreCountedByTheReason() async throws {
        let origin = try await OriginServer.start()
        origin.route("/far", .redirect(to: "http://127.0.0.1:1/a.png"))
        origin.route("/in", .redirect(to: "http://10.0.0.1:\(origin.port)/a.png"))
        let live = try await LiveServer.start {
            $0.takeSources(of: origin)
            $0.sources.http.allow = ["http://*:*/"]
            $0.sources.http.denyAddresses = [try #require(IPNetwork("192.0.2.0/24"))]
            $0.cache.negativeTTL = .zero
        }
        let sources = [
            "http://example.com:1/a.png", "ftp://example.com/", "gs://bucket/a.png",
            "http://user%40example.com/", "https://example.com:\(origin.port)/a.png",
            "http://10.0.0.1:\(origin.port)/a.png", "http://[fe80::1]:\(origin.port)/a.png",
            "http://169.254.169.254:\(origin.port)/a.png", origin.url("/far").absoluteString,
            origin.url("/in").absoluteString,
        ]
        for source in sources {
            #expect(try await live.ask("/_/plain/\(source)").status == 404, "\(source)")
        }
        let values = try await values(live)
        let expected = [
            "port": 1, "scheme": 2, "url": 1, "allow_list": 1, "private": 2, "linkLocal": 1,
            "metadata": 1, "redirect": 1,
        ]
        for (reason, count) in expected {
            let name = "halcyon_source_refused_total{reason=\"\(reason)\"}"
            #expect(values[name] == Double(count), "\(name)")
        }
        let refused = live.log.events.compactMap { $0["refused"] }
        #expect(refused.count == sources.count)
    }

    @Test func theCachesAreToldByEntriesAndByWhatHadToGo() async throws {
        let live = try await LiveServer.start { $0.cache.results.memoryBytes = 3000 }
        for width in 20...29 { _ = try await live.ask(.china("w:\(width)")) }
        await live.server.stores.results.finishWriting()
        let values = try await values(live)
        func value(_ name: String) -> Double? { values["halcyon_\(name)"] }
        let result = "cache=\"result\",tier"
        #expect(value("cache_entries{\(result)=\"disk\"}") == 10)
        let remembered = try #require(value("cache_entries{\(result)=\"memory\"}"))
        let evicted = try #require(value("cache_evictions_total{\(result)=\"memory\"}"))
        #expect(remembered + evicted == 10 && evicted > 0)
        #expect(value("cache_evictions_total{\(result)=\"disk\"}") == 0)
        #expect(value("cache_entries{cache=\"source\",tier=\"disk\"}") == 0)
        #expect(value("stage_duration_seconds_count{stage=\"write\"}") == 10)
        let most = try #require(value("vips_memory_highwater_bytes"))
        #expect(try most >= #require(value("vips_memory_bytes")))
        #expect(value("decoding_memory_limit_bytes") ?? 0 > 0)
    }

    @Test func whatNobodyHasUsedForTooLongGoes() async throws {
        let clock = ManualClock()
        let live = try await LiveServer.start(time: clock.time) {
            $0.cache.results.maxAge = .seconds(5)
        }
        _ = try await live.ask(.china("w:20"))
        let results = live.server.stores.results
        await results.finishWriting()
        await live.server.stores.cleaning.run()
        #expect(await results.diskUsage().entries == 1)
        clock.advance(by: .seconds(6))
        await live.server.stores.cleaning.run()
        #expect(await results.diskUsage().entries == 0)
        #expect(await results.diskUsage().bytes == 0)
    }

    @Test func theLogHasALineForEachRequestAndNoSecrets() async throws {
        let live = try await LiveServer.start { $0.requireSignatures() }
        let target = try #require(live.server.sign("/w:33/plain/local:///china.jpg"))
        _ = try await live.ask(target, fields: ["X-Request-ID": "first"])
        _ = try await live.ask(
            "/x/plain/local:///china.jpg%3Ftoken=abc", fields: ["X-Request-ID": "second"])
        let events = await live.loggedRequests(2)
        let first = try #require(events.first { $0["id"] == "first" })
        #expect(first.level == .info && first["status"] == "200")
        #expect(first["path"] == "/<sig>/w:33/plain/local:///china.jpg")
        #expect(first["w"] == "33" && first["out"] == "jpeg" && first["peer"] == "127.0.0.1")
        let second = try #require(events.first { $0["id"] == "second" })
        #expect(second["path"] == "/<sig>/plain/local:///china.jpg?token=***")
        #expect(second["code"] == "forbidden" && second["status"] == "403")
        let signature = target.split(separator: "/")[0]
        #expect(!events.contains { "\($0.metadata)".contains(signature) })
    }

    @Test func requestsUnderWayEndBeforeTheServerDoes() async throws {
        let (origin, gate) = try await OriginServer.gated()
        let live = try await LiveServer.start(origin) { $0.drain.timeout = .seconds(300) }
        async let answer = live.ask(origin.target())
        await origin.waitForRequests(1)
        async let hasEnded = live.listening.stop()
        await live.server.clients.wait { $0.isQuiescing }
        await #expect(throws: (any Error).self) { try await live.ask("/health") }
        gate.open()
        #expect(try await answer.status == 200)
        #expect(await hasEnded)
    }

    @Test func whileOthersLearnThatItEndsRequestsAreAnswered() async throws {
        let clock = ManualClock()
        let live = try await LiveServer.start(time: clock.time) { $0.drain.delay = .seconds(7) }
        #expect(try await live.ask("/ready").status == 200)
        async let hasEnded = live.listening.stop()
        await clock.waitForSleeper(until: .seconds(7))
        #expect(try await live.ask("/ready").status == 503)
        #expect(try await live.ask(.china("w:20")).status == 200)
        clock.advance(by: .seconds(7))
        #expect(await hasEnded)
    }

    @Test func requestsThatDoNotEndInTimeAreEnded() async throws {
        let (origin, gate) = try await OriginServer.gated()
        let clock = ManualClock()
        let live = try await LiveServer.start(origin, time: clock.time) {
            $0.drain.timeout = .seconds(7)
        }
        async let answer = live.ask(origin.target())
        await origin.waitForRequests(1)
        async let hasEnded = live.listening.stop()
        await clock.waitForSleeper(until: .seconds(7))
        clock.advance(by: .seconds(7))
        #expect(await hasEnded == false)
        // The answer is 503 or, when the connection has gone before it, none.
        let status = try? await answer.status
        #expect(status == nil || status == 503)
        await origin.waitForAbandonedRequests(1)
        gate.open()
    }
}
