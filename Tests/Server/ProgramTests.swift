import Foundation
import HalcyonServer
import HalcyonTestKit
import Testing

/// The program halcyon-server, as people and process managers see it.
@Suite struct ProgramTests: RunsTheServer {
    let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    @Test func aConfigurationIsCheckedWithAllItsFaults() async throws {
        let good = try await run([
            "--check", "--unsigned", "--local-root", folder.url.path,
            "--cache-directory", "/tmp/halcyon-server-no-such-folder",
        ])
        #expect(good.code == 0 && good.output == "The configuration is good.\n")
        let bad = try await run(
            ["--check", "--local-root", "/no/such/folder", "--bind", "0.0.0.0:0"])
        #expect(bad.code == 78)
        let lines = bad.errors.split(separator: "\n")
        #expect(lines.count == 2, "\(bad.errors)")
        #expect(lines.allSatisfy { $0.hasPrefix("halcyon-server: ") })
        // Also where it would serve.
        for arguments in [["--check"], []] {
            let misspelt = try await run(
                arguments + ["--unsigned", "--local-root", folder.url.path],
                environment: ["HALCYON_SIGNATUR_KEYS": "aa"])
            #expect(misspelt.code == 78)
            #expect(misspelt.errors.hasSuffix("The nearest is HALCYON_SIGNATURE_KEYS.\n"))
        }
        let far = try await run(
            [
                "--check", "--unsigned", "--local-root", folder.url.path,
                "--cache-directory", "/tmp/halcyon-server-no-such-folder",
            ],
            environment: ["HALCYON_SERVR_PORT": "8080"])
        #expect(far.code == 0)
        #expect(far.errors == "halcyon-server: The variable HALCYON_SERVR_PORT names no setting.\n")
        let unknown = try await run(["--check", "--set", "limits.maxPixel=1"])
        #expect(unknown.code == 78)
        #expect(unknown.errors.contains("The nearest is limits.maxPixels."))
    }

    @Test func flagsGoBeforeTheEnvironmentAndThatBeforeTheFile() async throws {
        let file = try folder.write(
            Data(
                #"{"limits": {"maxFrames": 1, "maxPixels": 11, "maxOptions": 21}, "signature": {"keys": ["aa"]}}"#
                    .utf8), to: "config.json")
        let shown = try await run(
            ["--print-config", "--config", file.path, "--set", "limits.maxFrames=3"],
            environment: ["HALCYON_LIMITS_MAX_FRAMES": "2", "HALCYON_LIMITS_MAX_PIXELS": "12"])
        #expect(shown.code == 0, "\(shown.errors)")
        #expect(shown.output.contains("\"maxFrames\" : 3"))
        #expect(shown.output.contains("\"maxPixels\" : 12"))
        #expect(shown.output.contains("\"maxOptions\" : 21"))
        #expect(shown.output.contains("\"***\""))
        #expect(!shown.output.contains("\"aa\""))
    }

    @Test func theSettingsThatAreInEffectArePrinted() async throws {
        let shown = try await run(["--print-config", "--unsigned", "--local-root", folder.url.path])
        #expect(shown.code == 0, "\(shown.errors)")
        let root = try #require(
            try JSONSerialization.jsonObject(with: Data(shown.output.utf8)) as? [String: Any])
        func value(_ group: String, _ name: String) -> Any? {
            (root[group] as? [String: Any])?[name]
        }
        #expect(value("cache", "directory") as? String == folder.file("halcyon-server").path)
        #expect(value("http", "ttl") as? Int == 0)
        #expect(value("log", "format") as? String == "json")
        #expect(root["playground"] as? Bool == true)
        #expect(value("work", "memory") as? Int ?? 0 > 1 << 20)
        let signed = try await run([
            "--print-config", "--local-root", folder.url.path, "--set",
            "signature.keys=943b421c9eb07c83", "--set", "signature.salts=520f986b998545b4",
        ])
        #expect(signed.output.contains("\"ttl\" : 31536000"))
        #expect(signed.output.contains("\"playground\" : false"))
    }

    private let keys = [
        "--set", "signature.keys=736563726574", "--set", "signature.salts=68656c6c6f",
    ]

    @Test func whatCannotBePrintedIsToldOf() async throws {
        let commands = [
            ["--print-config", "--unsigned"], ["sign"] + keys + ["/plain/local:///a.jpg"],
            ["--help"],
        ]
        for arguments in commands {
            let child = try start(arguments, after: "exec >/dev/full")
            #expect(await child.exitCode() == 1, "\(arguments)")
            let reason = "Standard output cannot be written: No space left on device"
            #expect(text("run.err") == "halcyon-server: \(reason)\n")
        }
    }

    @Test func aPathThatTheServerWouldRefuseIsNotSigned() async throws {
        let local = ["--set", "sources.local.root=\(folder.url.path)"]
        let rows: [([String], String)] = [
            (["/w:x/plain/local:///a.jpg"], "invalid_option"), (["/w:10/h:10"], "invalid_path"),
            (["/plain/local:///a b.jpg"], "bad_request"),
            (["/plain/local:///a.jpg?b"], "invalid_path"),
            (["/exp:1/plain/local:///a.jpg"], "expired"),
            (["/raw:1/plain/local:///a.jpg"], "option_forbidden"),
            (local + ["/plain/http://example.com/a.jpg"], "source_not_allowed"),
            (["--set", "sources.http.allow=b.example", "/plain/local:///a"], "source_not_allowed"),
            (["/plain/local:///" + String(repeating: "a", count: 9000)], "too_long"),
            (["--source", "local:///a.jpg", "--options", "blur:1e308"], "invalid_option"),
        ]
        for (arguments, code) in rows {
            let ended = try await run(["sign"] + keys + arguments)
            #expect(ended.code == 78 && ended.output == "", "\(arguments)")
            #expect(
                ended.errors.hasPrefix("halcyon-server: The server would refuse this path: ")
                    && ended.errors.hasSuffix(" (\(code))\n"), "\(ended.errors)")
        }
        let short = try await run([
            "sign", "--set", "signature.keys=aa", "--set", "signature.salts=bb",
            "/plain/local:///a",
        ])
        #expect(short.code == 78 && short.errors.contains("signature.keys: number 1 has 1 bytes"))
        // What is only good for information is signed, and what a proxy would make of a path.
        for path in ["/exif:1/plain/local:///a.jpg", "/w%3A10/plain/local:/a.jpg"] {
            let ended = try await run(["sign"] + keys + local + [path])
            #expect(ended.code == 0, "\(ended.errors)")
        }
        let merged = try await run(["sign"] + keys + ["/w%3A10/plain/local:/a.jpg"])
        let whole = try await run(["sign"] + keys + ["/w:10/plain/local:///a.jpg"])
        #expect(merged.output == whole.output)
    }

    @Test func pathsAreSigned() async throws {
        let source = "https://example.com/images/curiosity.jpg"
        let signed = try await run(
            ["sign", "--source", source, "--options", "rs:fit:300:200", "--format", "webp"] + keys)
        #expect(
            signed.output == "/TBRnc27TayUWPGvdxgPW0LK82nS9qDHbyrWMuZf_9CI/rs:fit:300:200"
                + "/plain/https://example.com/images/curiosity.jpg@webp\n")
        // A server takes a slash after the scheme for two that were merged on the way.
        let single = try await run(["sign", "--source", "local:/a b.jpg"] + keys)
        #expect(single.output.hasSuffix("/plain/local%3A%2Fa%20b.jpg\n"), "\(single.output)")
        #expect(try await run(["sign", "/plain/local:///a.jpg"]).code == 78)
    }

    @Test func withoutArgumentsItServesTheSamplePicturesAndEndsOnASignal() async throws {
        let arguments = [
            "--bind", "127.0.0.1:0", "--ops-bind", "127.0.0.1:0", "--log-format", "json",
        ]
        let (child, output) = try ChildLines.of { try start(arguments, output: $0) }
        _ = try #require(await output.line(containing: "docs/server/server.md"))
        let said = output.all.joined(separator: "\n")
        let port = try #require(said.firstMatch(of: /http:\/\/127\.0\.0\.1:([0-9]+)/)?.1)
        #expect(output.all.count { !$0.isEmpty } == 5)
        let client = try RawClient(port: #require(Int(port)))
        #expect(await client.answer(to: .china("w:20"))?.status == 200)
        child.send(SIGTERM)
        #expect(await child.exitCode() == 0)
        #expect(text("run.err").contains("\"msg\":\"stopping\""))
    }

    @Test func aDiskThatIsFullIsToldOnceAndPicturesAreServedAllTheSame() async throws {
        // No file may have more than 100 KB.
        let server = try await serve(after: "trap '' XFSZ; ulimit -f 200")
        for width in 500..<510 {
            let answer = await server.answer(.china("w:\(width)", "@png"))
            #expect(answer.status == "200" && answer.body.count > 200_000)
        }
        #expect(await server.end() == 0)
        _ = try #require(await server.log.line(containing: "\"stopping\""))
        let lines = server.log.all
        #expect(lines.count { $0.contains("\"level\":\"error\"") } == 1, "\(lines)")
    }

    @Test func theLogIsJSONWithNumbersAsNumbers() async throws {
        let server = try await serve()
        #expect(await server.status(.china("w:20")) == "200")
        let line = try #require(await server.log.line(containing: "\"msg\":\"request\""))
        let event = try #require(
            try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        #expect(event["status"] as? Int == 200)
        #expect(event["w"] as? Int == 20)
        #expect(event["bytes"] as? Int ?? 0 > 100)
        #expect(event["unsigned"] as? Bool == true)
        #expect(event["in"] as? String == "jpeg")
        let times = try #require(event["ms"] as? [String: Double])
        #expect(try #require(times["total"]) >= #require(times["decode"]))
        #expect(try #require(event["ts"] as? String).hasSuffix("Z"))
        #expect(await server.end() == 0)
    }

    @Test func aHangUpHasTheSettingsReadAgain() async throws {
        let file = folder.file("config.json")
        func write(_ preset: String) throws {
            let settings = "{\"processing\": {\"presets\": [\"\(preset)\"]}}"
            try Data(settings.utf8).write(to: file)
        }
        try write("one=w:1")
        let server = try await serve(arguments: ["--config", file.path])
        func status(_ preset: String) async -> String {
            await server.status(.china("pr:\(preset)"))
        }
        #expect(await status("one") == "200")
        try write("two=w:2")
        server.child.send(SIGHUP)
        _ = try #require(await server.log.line(containing: "\"reloaded\""))
        #expect(await status("one") == "404")
        #expect(await status("two") == "200")
        try write("three=nothing:1")
        server.child.send(SIGHUP)
        _ = try #require(await server.log.line(containing: "stay as they are"))
        #expect(await status("two") == "200")
        #expect(await server.end() == 0)
    }

    @Test func aServerAtASocketIsAskedByBothPrograms() async throws {
        let socket = ListenAddress.unix(path: folder.file("operations").path)
        let live = try await LiveServer.start {
            $0.operationsBind = socket
            $0.operationsToken = "open sesame"
        }
        let program = URL(fileURLWithPath: executable).deletingLastPathComponent()
            .appendingPathComponent("halcyon").path
        let address = ["--ops-bind", socket.description]
        let known = address + ["--set", "ops.token=open sesame"]
        let ready = try await run(
            program: program, ["serve", "health", "--timeout", "240"] + address)
        #expect(ready.code == 0, "\(ready.errors)")
        let list = try folder.write(
            Data("/_/w:1/plain/local:///china.jpg\n\n/_/w:2/plain/local:///china.jpg\n".utf8),
            to: "list")
        let warmed = try await run(["warm", list.path] + known)
        #expect(warmed.code == 0, "\(warmed.errors)")
        #expect(warmed.output == "2 of 2 pictures are there.\n")
        let purged = try await run(
            program: program, ["serve", "purge", "--source", "local:///china.jpg"] + known)
        #expect(purged.output == .purged(2, 0), "\(purged.errors)")
        let refused = try await run(["purge", "--all"] + address)
        #expect(refused.code == 1 && refused.errors.contains("403"))
        try folder.write(Data("/_/w:1/plain/local:///none.jpg".utf8), to: "list")
        let failed = try await run(["warm", list.path] + known)
        #expect(failed.code == 1)
        #expect(failed.errors.contains("/_/w:1/plain/local:///none.jpg: source_not_found"))
        let nowhere = ["--ops-bind", "unix:\(folder.file("none").path)"]
        let rows: [([String], Int32)] = [
            (["health"] + nowhere, 1), (["health", "--ops-bind", "nonsense"], 78),
            (["purge", "--all", "--url", "/x"], 64),
        ]
        for (arguments, code) in rows {
            #expect(try await run(arguments).code == code, "\(arguments)")
        }
        for timeout in ["0", "-1", "nan", "inf", "soon"] {
            #expect(try await run(["health", "--timeout=\(timeout)"]).code == 64)
        }
        #expect(try await run(program: program, ["serve", "--check"] + address).code == 0)
        #expect(live.server.requestsUnderWay == 0)
    }
}
