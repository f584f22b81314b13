import Foundation
import HalcyonServer
import HalcyonTestKit
import Testing

/// Servers of sources that send too much, and what that takes of the memory of the program.
@Suite struct OriginMemoryTests: RunsTheServer {
    let folder: TemporaryDirectory
    private let origin: OriginServer
    private static let picture = PNGFixture.solid(.red, width: 40, height: 20)

    init() async throws {
        folder = try TemporaryDirectory()
        origin = try await OriginServer.start()
    }

    private static let mebibyte = 1 << 20

    /// The most bytes that a process has had in memory.
    private func peak(_ child: ChildProcess) throws -> Int {
        let status = try String(
            contentsOfFile: "/proc/\(child.processIdentifier)/status", encoding: .utf8)
        let line = try #require(status.firstMatch(of: /VmHWM:\s+([0-9]+) kB/))
        return try #require(Int(line.1)) * 1024
    }

    /// Of 100 MiB only as much is kept as a source may have.
    @Test func whatIsBeyondTheLimitIsNotKept() async throws {
        let zeros = Data(count: 1 << 16)
        let field = "X-A: \(String(repeating: "a", count: 8000))\r\n"
        let head =
            "HTTP/1.1 200 OK\r\n" + String(repeating: field, count: 100 * Self.mebibyte / 8000)
        let packed = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nConnection: close\r\n"
        let bomb = DeflateBomb.gzip(Self.picture, zeros: 100 * Self.mebibyte)
        let rows: [(String, OriginResponse, String)] = [
            ("/endless", .endless(Self.picture + zeros), "422"),
            ("/chunks", .endless(Self.picture + zeros).with(.chunked), "422"),
            ("/head", .garbage(Data(head.utf8)), "4(04|22)"),
            ("/gzip", .garbage(Data((packed + "\r\n").utf8) + bomb), "422"),
        ]
        let server = try await serve(
            "sources.http.allow=*", "sources.http.ports=\(origin.port)",
            "sources.http.allowLoopback=true", "limits.maxSourceBytes=\(Self.mebibyte)",
            "cache.negativeTTL=0", "sources.http.connectTimeout=60",
            "sources.http.stallTimeout=60", "sources.http.totalTimeout=60",
            "work.requestTimeout=60")
        origin.route("/good", .png(Self.picture))
        #expect(await server.status(origin.target("/good")) == "200")
        let before = try peak(server.child)
        for (path, response, expected) in rows {
            origin.route(path, response)
            let found = await server.status(origin.target(path))
            #expect(try found.wholeMatch(of: Regex(expected)) != nil, "\(path): \(found)")
            // What the system's allocator and libraries take meanwhile is far less than what was sent.
            let more = try peak(server.child) - before
            #expect(more < 16 * Self.mebibyte, "\(path): \(more)")
        }
        #expect(await server.end() == 0)
    }
}
