import Foundation
import HalcyonServer
import HalcyonTestKit
import Testing

/// The program halcyon-server and the signals that end it, whatever it is doing.
@Suite struct SignalTests: RunsTheServer {
    let folder: TemporaryDirectory
    private let origin: OriginServer
    private let gate: Gate
    private let picture = PNGFixture.green

    init() async throws {
        folder = try TemporaryDirectory()
        (origin, gate) = try await OriginServer.gated()
    }

    private func start(
        _ settings: String, on port: ClosedPort? = nil, environment: [String: String] = [:]
    ) async throws -> RunningServer {
        try await serve(
            "sources.http.allow=http://127.0.0.1:*", "sources.http.ports=\(origin.port)",
            "sources.http.allowLoopback=true", "sources.http.stallTimeout=600",
            "sources.http.totalTimeout=600", "work.requestTimeout=600",
            arguments: settings.split(separator: " ").flatMap { ["--set", String($0)] }, on: port,
            environment: environment)
    }

    private var late: String { origin.target() }

    @Test(arguments: [SIGTERM, SIGINT]) func aServerWithoutWorkEnds(signal: Int32) async throws {
        let server = try await start("")
        // A connection that stays, and a head that does not come to its end, keep nothing alive.
        let (idle, slow) = (try server.connect(), try server.connect())
        _ = await idle.answer(to: "/live")
        slow.send("GET /live HTTP/1.1\r\nHost: ")
        #expect(await server.end(signal) == 0)
        #expect(await server.log.line(containing: "\"stopping\"") != nil)
        #expect(await idle.read().bytes.isEmpty)
    }

    @Test func aRequestThatIsOnItsWayWhenItEndsIsAnsweredAsTheLastOfItsConnection() async throws {
        let server = try await start("drain.timeout=1200 drain.idleTimeout=600")
        let kept = try server.connect()
        func isLast() async -> Bool {
            let answer = await kept.answer(to: .china("w:20"))
            #expect(answer?.status == 200)
            return answer?.isLast != false
        }
        #expect(await !isLast())
        server.child.send(SIGTERM)
        #expect(await server.log.line(containing: "\"stopping\"") != nil)
        // A moment later its connections know of the end, too.
        while await !isLast() {}
        #expect(await kept.read().bytes.isEmpty)
        #expect(await server.child.exitCode() == 0)
    }

    @Test func noRequestIsLostWhenAServerTakesThePlaceOfAnother() async throws {
        let port = try ClosedPort(isReserved: true)
        let load = KeptConnections(port: port.number, clients: 4)
        var server = try await start("drain.timeout=1200 drain.idleTimeout=600", on: port)
        let faults = try await load.asking {
            for _ in 0..<4 {
                // Then all have connections to this one.
                await load.wait(forAnswers: 20)
                #expect(await server.end() == 0)
                server = try await start("drain.timeout=1200 drain.idleTimeout=600", on: port)
                load.noteServer()
            }
            await load.wait(forAnswers: 20)
        }
        #expect(faults.isEmpty, "\(faults)")
        #expect(await server.end() == 0)
    }

    /// Some are being accepted when nobody takes connections any longer.
    @Test func aCrowdThatComesWhileItEndsDoesNotKeepItFromEnding() async throws {
        for _ in 0..<3 {
            let server = try await start("drain.timeout=120 work.idleTimeout=600")
            let clients = Recorder<RawClient>()
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        for _ in 0..<500 {
                            guard let client = try? server.connect() else { return }
                            client.get("/live")
                            clients.record(client)
                        }
                    }
                }
                await clients.waitFor(count: 50)
                server.child.send(SIGTERM)
            }
            #expect(await server.child.exitCode() == 0)
        }
    }

    @Test func workThatTakesTooLongIsCutOff() async throws {
        let server = try await start("drain.timeout=0.2")
        async let status = server.status(late)
        await origin.waitForRequests(1)
        #expect(await server.end() == 1)
        #expect(["", "503"].contains(await status))
        gate.open()
    }

    @Test(arguments: [SIGTERM, SIGINT]) func aSecondSignalEndsItAtOnce(signal: Int32) async throws {
        let server = try await start("drain.timeout=600")
        async let status = server.status(late)
        await origin.waitForRequests(1)
        server.child.send(signal)
        _ = await server.log.line(containing: "\"stopping\"")
        #expect(await server.end(signal) == 130)
        #expect(await status == "")
        gate.open()
    }

    /// sd_notify(3): datagrams to a socket of the file system, or one in no folder.
    @Test(arguments: [false, true])
    func theServiceManagerIsToldOfTheStartAndOfTheEnd(isAbstract: Bool) async throws {
        let name = isAbstract ? "@halcyon-\(UUID().uuidString)" : folder.file("notify").path
        let manager = try ServiceManagerSocket(name)
        let server = try await start("", environment: ["NOTIFY_SOCKET": name])
        #expect(await manager.next() == "READY=1")
        server.child.send(SIGTERM)
        #expect(await manager.next() == "STOPPING=1")
        #expect(await server.child.exitCode() == 0)
    }

    /// A proxy would be asked for addresses that the server itself must not reach.
    @Test func noProxyOfTheEnvironmentIsAsked() async throws {
        let proxy = try await OriginServer.start()
        let address = proxy.url("").absoluteString
        let names = [
            "http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY",
        ]
        let server = try await start(
            "", environment: Dictionary(uniqueKeysWithValues: names.map { ($0, address) }))
        origin.route("/a.png", .png(picture))
        #expect(await server.status("/_/w:10/plain/\(origin.url("/a.png"))") == "200")
        // Nobody is there, whoever is asked.
        #expect(await server.status("/_/w:10/plain/http://127.0.0.2:\(origin.port)/a.png") == "404")
        #expect(origin.requestCount == 1)
        #expect(proxy.connectionCount == 0)
        #expect(await server.end() == 0)
    }
}

/// Where a service manager hears of the programs that it has started.
private final class ServiceManagerSocket: Sendable {
    private let descriptor: Int32

    /// - Parameter name: That of `NOTIFY_SOCKET`.
    init(_ name: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var bytes = Array(name.utf8)
        if name.hasPrefix("@") { bytes[0] = 0 }
        try #require(bytes.count < MemoryLayout.size(ofValue: address.sun_path))
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
        let result = withUnsafePointer(to: &address) { [descriptor] pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length)
            }
        }
        guard result == 0 else { throw POSIXError(.EADDRINUSE) }
    }

    deinit { close(descriptor) }

    func next() async -> String {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { [descriptor] in
                var bytes = [UInt8](repeating: 0, count: 4096)
                let count = recv(descriptor, &bytes, bytes.count, 0)
                continuation.resume(
                    returning: String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self))
            }
        }
    }
}
