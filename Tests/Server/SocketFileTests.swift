import Foundation
import HalcyonServer
import HalcyonTestKit
import Testing

/// Sockets of the file system, of which each belongs to one process.
@Suite struct SocketFileTests: RunsTheServer {
    let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private var socket: String { folder.file("server.sock").path }

    private func start() async throws -> LiveServer {
        try await LiveServer.start { $0.operationsBind = .unix(path: socket) }
    }

    /// Whether a server answers there.
    private func isReady() async throws -> Bool {
        try await run(["health", "--timeout", "240", "--ops-bind", "unix:\(socket)"]).code == 0
    }

    /// What is in the folder of the socket.
    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
            .filter { $0.hasSuffix(".sock") || $0.hasPrefix(".") }.sorted()
    }

    @Test func aSocketThatSomebodyListensAtIsRefused() async throws {
        let first = try await start()
        let error = await #expect(throws: ListenError.self) { try await start() }
        #expect(
            error?.description
                == "cannot listen on unix:\(socket) (ops.bind): another process listens there")
        #expect(try names() == ["server.sock"])
        let second = try await run([
            "--unsigned", "--local-root", try #require(LiveServer.samples), "--bind",
            "unix:\(socket)", "--ops-bind", "off",
        ])
        #expect(second.code == 1)
        let line = "cannot listen on unix:\(socket) (bind): another process listens there"
        #expect(second.errors == "halcyon-server: \(line)\n")
        #expect(try await isReady())
        await first.listening.stop()
        #expect(try names() == [])
    }

    @Test func aSocketIsRemovedOnlyByTheServerThatHasMadeIt() async throws {
        let first = try await start()
        unlink(socket)
        let second = try await start()
        await first.listening.stop()
        #expect(try names() == ["server.sock"])
        #expect(try await isReady())
        await second.listening.stop()
        #expect(try names() == [])
    }

    @Test func whatAServerThatWasKilledHasLeftIsTakenOver() async throws {
        let arguments = ["--bind", "unix:\(socket)", "--ops-bind", "off", "--log-format", "json"]
        for signal in [SIGKILL, SIGTERM] {
            let (child, output) = try ChildLines.of { try start(arguments, output: $0) }
            _ = try #require(await output.line(containing: "docs/server/server.md"))
            let attributes = try FileManager.default.attributesOfItem(atPath: socket)
            #expect(attributes[.posixPermissions] as? Int == 0o660)
            child.send(signal)
            _ = await child.exitCode()
            #expect(try names() == (signal == SIGKILL ? ["server.sock"] : []))
        }
    }

    @Test func aFileThatIsNoSocketIsLeftAlone() async throws {
        try folder.write(Data("precious".utf8), to: "server.sock")
        let error = await #expect(throws: ListenError.self) { try await start() }
        #expect(error?.reason == "there is a file of this name")
        #expect(text("server.sock") == "precious")
        #expect(try names() == ["server.sock"])
    }

    @Test func anAddressThatCannotBeHadIsToldInPlainWords() async throws {
        let live = try await LiveServer.start()
        let root = try #require(LiveServer.samples)
        let rows = [
            ("127.0.0.1:\(live.port)", 1, "address already in use"),
            ("192.0.2.1:1", 78, "cannot assign requested address"),
            ("no-such-host.invalid:1", 78, "there is no such host"),
            ("unix:\(folder.file("none/a.sock").path)", 78, "no such file or directory"),
        ]
        for (address, code, reason) in rows {
            let ended = try await run([
                "--set", "signature.keys=943b421c9eb07c83", "--set",
                "signature.salts=520f986b998545b4", "--local-root", root, "--bind", address,
                "--ops-bind", "off",
            ])
            #expect(ended.code == code)
            #expect(
                ended.errors.split(separator: "\n").last
                    == "halcyon-server: cannot listen on \(address) (bind): \(reason)",
                "\(ended.errors)")
        }
    }

    @Test func anAddressOfOperationsThatIsTakenIsToldInOneLine() async throws {
        let live = try await LiveServer.start()
        let taken = "127.0.0.1:\(try #require(live.listening.operationsPort))"
        let ended = try await run([
            "--unsigned", "--local-root", try #require(LiveServer.samples), "--bind",
            "127.0.0.1:0", "--ops-bind", taken,
        ])
        #expect(ended.code == 1)
        let line = "cannot listen on \(taken) (ops.bind): address already in use"
        #expect(ended.errors == "halcyon-server: \(line)\n")
    }
}
