import Foundation
import HalcyonPixels
import HalcyonHTTP
@testable import HalcyonServer
import HalcyonTestKit
import HalcyonWork
import Logging
import Testing

/// Work that is shared, refused when there is too much of it, and stopped when nobody waits.
@Suite struct WorkTests {
    private let picture = PNGFixture.green

    /// Waits until `count` requests have joined the fetch of another.
    private func collapsed(_ count: Double, _ live: LiveServer) async {
        await live.server.metrics.collapsed.wait(["source"]) { $0 >= count }
    }

    /// A thousand connections with one request each, or as many as a process may have files.
    private func crowd(_ live: LiveServer, _ target: (Int) -> String) throws -> [RawClient] {
        let clients = try (0..<min(1000, LiveServer.descriptors / 8)).map { _ in
            try RawClient(port: live.port)
        }
        for (index, client) in clients.enumerated() {
            client.send(
                "GET \(target(index)) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        }
        return clients
    }

    @Test(arguments: [1, 10])
    func aThousandRequestsAreOneFetchAndOnePictureOfEachSize(sizes: Int) async throws {
        let (origin, gate) = try await OriginServer.gated()
        let live = try await LiveServer.start(origin) {
            $0.work.queue = 2000
            $0.work.idleTimeout = .seconds(120)
        }
        let clients = try crowd(live) { origin.target("/a.png", "w:\(1 + $0 % sizes)") }
        await live.server.metrics.inFlight.wait { $0 >= Double(clients.count) }
        gate.open()
        var bodies = Set<String>()
        for client in clients {
            let answer = await client.answer()
            #expect(answer?.status == 200)
            bodies.insert(answer?.body ?? "")
        }
        #expect(bodies.count == sizes)
        #expect(origin.requestCount == 1)
        #expect(try await live.metric("halcyon_images_total{in=\"png\",out=\"png\"}") == sizes)
        try await live.expectCalm(warnings: 0)
    }

    @Test func decodingIsStoppedWhenItsLastClientLeaves() async throws {
        let live = try await LiveServer.start()
        let gate = live.server.gates.decoders
        let (stopped, made) = (live.server.metrics.cancelled, live.server.metrics.pictures)
        let ends = [(stopped, ["decode"], true), (made, ["png", "png"], false)]
        var isStopped = false
        // What is made before its client has been seen to leave is none of it: then again with another size.
        for width in 4000...4100 where !isStopped {
            let ended = OneShot<Bool>()
            for (metric, labels, isStop) in ends {
                let before = metric.value(labels)
                Task {
                    await metric.wait(labels) { $0 > before }
                    ended.give(isStop)
                }
            }
            let entered = gate.usage.entered
            var client: RawClient? = try RawClient(port: live.port)
            let options = "rs:force:\(width):4000:1/bl:60"
            client?.get("/_/\(options)/plain/local:///chelsea.png")
            await gate.wait { $0.entered > entered }
            client = nil
            isStopped = await ended.value
        }
        #expect(isStopped)
        try await live.expectCalm(warnings: 0)
    }

    @Test func whoWaitsForAnEncoderOfAVIFKeepsNobodyFromBeingServed() async throws {
        let live = try await LiveServer.start { $0.work.avifEncoders = 1 }
        let encoders = live.server.gates.encoders
        let place = try await encoders.enter()
        async let avif = live.ask(.china("w:100", "@avif"))
        await encoders.wait { $0.waiting > 0 }
        #expect(try await live.ask(.china("w:100")).status == 200)
        #expect(live.server.gates.decoders.usage.passing == 0)
        encoders.leave(place)
        #expect(try await avif.status == 200)
    }

    /// A server that makes one picture at a time.
    private func oneDecoder(_ time: TimeSource = .system) async throws -> LiveServer {
        try await LiveServer.start(time: time) {
            $0.work.decoders = 1
            $0.work.requestTimeout = .seconds(30)
        }
    }

    /// Work that takes long gives its place back before its end.
    @Test func aPlaceIsGivenBackOnce() async throws {
        let gate = Gate("test", Admission(width: 2, queue: 2), time: .system)
        let first = try await gate.enter()
        let second = try await gate.enter()
        gate.leave(first)
        gate.leave(first)
        #expect(gate.usage.passing == 1)
        gate.leave(second)
        #expect(gate.usage.passing == 0)
    }

    @Test func whoHasTooLittleTimeLeftWhenItIsHisTurnIsToldSoAtOnce() async throws {
        let live = try await oneDecoder()
        let gate = live.server.gates.decoders
        // Pictures seem to take a minute.
        for _ in 0..<60 { gate.noteHold(.seconds(60), of: "source") }
        #expect(gate.expectedHold(of: "source") > .seconds(31))
        // Who has not had to wait is served all the same.
        #expect(try await live.ask(.china("w:100")).status == 200)
        let place = try await gate.enter()
        async let late = live.told(.china("w:101"))
        await gate.wait { $0.waiting > 0 }
        gate.leave(place)
        let answer = try await late
        #expect(answer.status == 503 && answer.code == "deadline")
        // As long as it would take until all who wait have had their turn, and half a minute at most.
        #expect(answer["Retry-After"] == "30")
        #expect(gate.usage.passing == 0)
    }

    @Test func aRequestWhoseTimeEndsInTheQueueIsToldSo() async throws {
        let clock = ManualClock()
        let live = try await oneDecoder(clock.time)
        let gate = live.server.gates.decoders
        let place = try await gate.enter()
        async let late = live.told(.china("w:100"))
        await gate.wait { $0.waiting == 1 }
        clock.advance(by: .seconds(30))
        let answer = try await late
        #expect(answer.status == 503 && answer.code == "deadline")
        #expect(answer["Cache-Control"] == "no-store" && answer["Retry-After"] != nil)
        let event = try await live.loggedRequest()
        #expect(event.level == .warning && event["code"] == "deadline")
        // Nobody takes the place of a request that is over.
        await gate.wait { $0.waiting == 0 }
        gate.leave(place)
        #expect(gate.usage.passing == 0)
    }

    @Test func slowPicturesOfOneKindKeepNoOthersFromBeingMade() async throws {
        let live = try await oneDecoder()
        let gate = live.server.gates.decoders
        for _ in 0..<60 { gate.noteHold(.seconds(60), of: "avif") }
        let place = try await gate.enter()
        async let slow = live.ask(.china("w:101", "@avif"))
        async let quick = live.ask(.china("w:101"))
        await gate.wait { $0.waiting == 2 }
        gate.leave(place)
        #expect(try await slow.status == 503)
        #expect(try await quick.status == 200)
    }

    @Test func noPictureTakesMoreMemoryThanThereIsForAll() {
        var configuration = ImageServerConfiguration()
        let usual = PictureRules(configuration).decodingLimits.maximumMemory
        #expect(usual == configuration.limits.maxDecodingBytes)
        configuration.work.memory = 50 << 20
        #expect(PictureRules(configuration).decodingLimits.maximumMemory == 50 << 20)
        configuration.work.memory = 500 << 20
        #expect(PictureRules(configuration).decodingLimits.maximumMemory == usual)
    }

    @Test func whatIsTooMuchIsRefusedAtOnce() async throws {
        let origin = try await OriginServer.start()
        let gate = Gate()
        let live = try await LiveServer.start(origin) {
            $0.work.downloads = 1
            $0.work.downloadsPerHost = 1
            $0.work.queue = 1
            $0.http.errorTTL = .seconds(7)
        }
        for number in 0..<3 {
            origin.route("/\(number).png", .png(picture).with(.wait(.gate(gate))))
        }
        let targets = (0..<3).map { origin.target("/\($0).png") }
        async let first = live.ask(targets[0])
        await origin.waitForRequests(1)
        async let second = live.ask(targets[1])
        await live.server.gates.downloads.wait { $0.waiting > 0 }
        let third = try await live.told(targets[2])
        #expect(third.status == 429 && third.code == "busy")
        #expect((1...30).contains(third["Retry-After"].flatMap { Int($0) } ?? 0))
        #expect(third["Cache-Control"] == "no-store")
        gate.open()
        #expect(try await first.status == 200)
        #expect(try await second.status == 200)
        #expect(try await live.ask(targets[2]).status == 200)
        #expect(try await live.metric("halcyon_rejected_total{reason=\"queue\"}") == 1)
    }

    @Test func aFetchIsStoppedWhenItsLastClientLeaves() async throws {
        let (origin, gate) = try await OriginServer.gated()
        let live = try await LiveServer.start(origin)
        let request = "GET \(origin.target()) HTTP/1.1\r\nHost: localhost\r\n\r\n"
        var clients = try (0..<3).map { _ in try RawClient(port: live.port) }
        for client in clients { client.send(request) }
        await origin.waitForRequests(1)
        await collapsed(2, live)
        clients.removeLast(2)
        await live.waitForClientsThatLeave(2)
        let event = try await live.loggedRequest()
        #expect(event.level == .debug && event["code"] == "client_gone")
        #expect(origin.abandonedRequestCount == 0)
        clients.removeAll()
        await origin.waitForAbandonedRequests(1)
        await live.waitForClientsThatLeave(3)
        await live.server.gates.downloads.wait { $0.passing == 0 }
        gate.open()
    }

    @Test func oneWhoStaysGetsThePictureWhoeverElseLeaves() async throws {
        let (origin, gate) = try await OriginServer.gated()
        let live = try await LiveServer.start(origin)
        let target = origin.target()
        var leaver: RawClient? = try RawClient(port: live.port)
        leaver?.get(target)
        await origin.waitForRequests(1)
        async let stays = live.ask(target)
        await collapsed(1, live)
        leaver = nil
        await live.waitForClientsThatLeave(1)
        gate.open()
        #expect(try await stays.status == 200)
        #expect(origin.requestCount == 1 && origin.abandonedRequestCount == 0)
    }
}
