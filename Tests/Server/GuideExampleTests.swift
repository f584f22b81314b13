import Foundation
import FoundationNetworking
import HalcyonPixels
import HalcyonServer
import HalcyonTestKit
import Testing

/// Every example of the guide to the server does what the guide says, word by word. Its pieces of Swift are
/// in ``ServerSnippets``, ``EmbeddingTests`` and the examples; a route of Vapor is text alone.
@Suite struct GuideExampleTests: RunsTheServer {
    let folder: TemporaryDirectory
    private let guide: ServerGuide
    private static let china = "plain/local:///china.jpg"

    init() throws {
        folder = try TemporaryDirectory()
        guide = try ServerGuide()
    }

    /// The block whose first line begins so.
    private func block(_ start: String) throws -> String {
        try #require(guide.blocks.map(\.code).first { $0.hasPrefix(start) })
    }

    /// What stands in backquotes after some words, or the first of that which begins so.
    private func code(after words: String = "", beginning start: String = "") throws -> String {
        let place = words.isEmpty ? guide.prose.startIndex : try end(of: words)
        let found = ServerGuide.code(in: String(guide.prose[place...]))
        return try #require(found.first { $0.hasPrefix(start) })
    }

    private func end(of words: String) throws -> String.Index {
        try #require(guide.prose.firstRange(of: words)?.upperBound)
    }

    private func size(_ answer: LiveServer.Answer) throws -> String {
        try #require(answer.status == 200, "\(answer.text)")
        let size = try answer.pixelSize
        return "\(answer["Content-Type"] ?? "") \(size.width)×\(size.height)"
    }

    /// The one who reads this has added an example: it needs a test here.
    @Test func thereIsATestForEachBlock() {
        let blocks = guide.blocks.filter { $0.language != "swift" }
        let starts = blocks.map { $0.code.prefix { $0 != "\n" && $0 != " " } }
        #expect(
            starts == [
                "./run", "/SIGNATURE/OPTION/OPTION/…/plain/SOURCE@FORMAT", "halcyon-server", "{",
                // scripts/package-check starts the installed server.
                "editor", "{", "{", "app.on(.POST,",
            ])
        let commands = Set(
            ServerGuide.code(in: guide.prose).filter { $0.hasPrefix("halcyon-server ") })
        #expect(
            commands == [
                "halcyon-server health", "halcyon-server purge --source URL",
                "halcyon-server warm FILE",
            ])
    }

    // MARK: Commands

    @Test func theFirstCommandsServePictures() async throws {
        let lines = try block("./run serve").split(separator: "\n").map {
            String($0.prefix { $0 != "#" }).trimmingCharacters(in: .whitespaces)
        }
        let serve = lines.filter { $0.hasPrefix("./run serve") }
        let words = try #require(lines.last).split(separator: " ").map(String.init)
        try #require(serve.count == 2 && lines.count == 3 && words.prefix(2) == ["curl", "-o"])
        let script = try ServerGuide.text("run")
        #expect(script.contains("== serve ]]; then\n    product=halcyon-server\n"))
        let pictures = folder.url.appendingPathComponent("Pictures")
        try FileManager.default.copyItem(
            atPath: try #require(LiveServer.samples), toPath: pictures.path)
        // On ports that are free; the guide's are those without that.
        let port = try ClosedPort(isReserved: true)
        let environment = [
            "HALCYON_BIND": "127.0.0.1:\(port.number)", "HALCYON_OPS_BIND": "127.0.0.1:0",
            "HOME": folder.url.path,
        ]
        for command in serve {
            let arguments = command.dropFirst("./run serve".count)
            let (child, log) = try ChildLines.of {
                try start(
                    program: "/bin/sh", ["-c", "exec \"$0\"\(arguments)", executable],
                    environment: environment, errors: $0)
            }
            _ = try #require(await log.line(containing: "\"listening\""), "\(log.all)")
            let url = words[3].replacing(":8080", with: ":\(port.number)")
            let file = folder.url.appendingPathComponent(words[2]).path
            let curl = try await run(program: "/usr/bin/curl", ["--silent", "-o", file, url])
            #expect(curl.code == 0, "\(curl.errors)")
            let data = try Data(contentsOf: URL(fileURLWithPath: file))
            #expect(data.dropFirst(8).starts(with: Data("WEBP".utf8)))
            #expect(try Image.decoding(data).pixelSize == PixelSize(width: 300, height: 200))
            child.send(SIGTERM)
            #expect(await child.exitCode() == 0)
        }
    }

    @Test func theSettingsOfEachRecipeAreGood() async throws {
        let keys = try folder.write(Data(keyAndSalt.utf8), to: "keys")
        let scans = try #require(LiveServer.samples)
        let tables = try folder.write(
            Data("{\"a\":\"https://archive.example.org/scans/a.jpg\"}".utf8), to: "ids.json")
        let recipes = guide.blocks.map(\.code).filter { $0.hasPrefix("{") }
        #expect(recipes.count == 3)
        for (number, recipe) in recipes.enumerated() {
            let settings = recipe.replacing("/etc/halcyon/keys", with: keys.path)
                .replacing("/etc/halcyon/ids.json", with: tables.path)
                .replacing("/srv/scans", with: scans)
            let file = try folder.write(Data(settings.utf8), to: "recipe-\(number).json")
            // Key and folder are had from elsewhere where a recipe names none.
            let others = [
                "HALCYON_SIGNATURE_KEYS": String(repeating: "ab", count: 32),
                "HALCYON_SIGNATURE_SALTS": String(repeating: "cd", count: 32),
                "HALCYON_SOURCES_LOCAL_ROOT": scans,
            ]
            let checked = try await run(
                ["--check", "--config", file.path],
                environment: recipe.contains("\"signature\"") ? [:] : others)
            #expect(checked.code == 0, "\(checked.errors)")
        }
    }

    private var keyAndSalt: String {
        "\(String(repeating: "ab", count: 32)) \(String(repeating: "cd", count: 32))"
    }

    @Test func theSettingsArePrintedAndSignWhatTheCommandSays() async throws {
        try folder.write(Data(try block("{").utf8), to: "server.json")
        let file = folder.file("server.json").path
        let checked = try await run(["--check", "--config", file])
        #expect(checked.output == "The configuration is good.\n", "\(checked.errors)")
        let words = try block("halcyon-server sign").split(separator: " ").dropFirst().map {
            $0 == "server.json" ? file : String($0)
        }
        let signed = try await run(words)
        #expect(
            signed.output == "\(try code(after: "[settings](#settings) below"))\n",
            "\(signed.errors)")
        let data = Data(try block("{").utf8)
        let live = try await LiveServer.start {
            var settings = ImageServerConfiguration()
            try settings.take(file: data)
            $0.signature = settings.signature
        }
        let path = signed.output.trimmingCharacters(in: .newlines)
        // The source is not allowed, but the signature is right.
        #expect(try await live.ask(path).status == 404)
        #expect(try await live.ask(path.replacing("rs:fit:300", with: "rs:fit:301")).status == 403)
    }

    @Test func theCommandsForOperatorsReachAServer() async throws {
        let live = try await LiveServer.start()
        let operations = try #require(live.listening.operationsPort)
        let environment = ["HALCYON_OPS_BIND": "127.0.0.1:\(operations)"]
        let list = try folder.write(Data("/_/w:9/\(Self.china)\n".utf8), to: "list")
        func order(_ command: String) async throws -> EndedProgram {
            let words = command.split(separator: " ").dropFirst().map {
                switch $0 {
                case "URL": "local:///china.jpg"
                case "FILE": list.path
                default: String($0)
                }
            }
            return try await run(words, environment: environment)
        }
        // For a busy machine.
        let health = try await order(code(beginning: "halcyon-server health") + " --timeout 240")
        #expect(health.code == 0, "\(health.errors)")
        let warmed = try await order(try code(beginning: "halcyon-server warm"))
        #expect(warmed.output == "1 of 1 pictures are there.\n", "\(warmed.errors)")
        let purge = try code(beginning: "halcyon-server purge")
        #expect(try await order(purge).output == .purged(1, 0))
        let others = ServerGuide.code(
            in: String(guide.prose[try end(of: "`\(purge)` (or ")...].prefix { $0 != ")" }))
        #expect(others == ["--prefix", "--url", "--all"])
        for (option, value) in zip(others, ["local:///", "/_/w:9/\(Self.china)", ""]) {
            _ = try await live.ask("/_/w:9/\(Self.china)")
            let ended = try await run(
                ["purge", option] + (value.isEmpty ? [] : [value]), environment: environment)
            #expect(ended.output == .purged(1, 0), "\(option) \(ended.errors)")
        }
    }

    // MARK: Requests

    @Test func theFormsOfURLsLeadToOnePicture() async throws {
        let origin = try await OriginServer.start(
            files: ["/a.jpg": try LiveServer.sample("china.jpg")])
        let live = try await LiveServer.start(origin)
        let lines = try block("/SIGNATURE").split(separator: "\n")
        let source = "local:///china.jpg"
        let encoded = Data(source.utf8).base64EncodedString().replacing("=", with: "")
        var answers: [LiveServer.Answer] = []
        for line in lines {
            let target = String(line)
                .replacing("/SIGNATURE/OPTION/OPTION/…/", with: "/_/w:200/q:70/")
                .replacing("BASE64URL-OF-SOURCE", with: encoded)
                .replacing("SOURCE", with: source).replacing("FORMAT", with: "png")
            answers.append(try await live.ask(target))
        }
        #expect(try answers.map(size) == ["image/png 200×133", "image/png 200×133"])
        #expect(answers[0].body == answers[1].body)
        let typed = try code(beginning: "/-/").replacing(
            "https://example.com/a.jpg", with: origin.url("/a.jpg").absoluteString)
        #expect(try size(try await live.ask(typed)) == "image/jpeg 300×200")
    }

    @Test func theOrdersOfTheTableAreTaken() async throws {
        let origin = try await OriginServer.start()
        origin.route("/2024/1.jpg", .ok(try LiveServer.sample("china.jpg")))
        let live = try await LiveServer.start(origin) { $0.sources.freshness = .seconds(3600) }
        let base = origin.url("").absoluteString.dropLast()
        var (seen, id) = (Set<String>(), "")
        for row in guide.rows(below: "request | |") {
            let order = try #require(ServerGuide.code(in: row[0]).first)
                .replacing("https://img.example.com", with: base)
                .replacing("/SIGNATURE/", with: "/_/").replacing("/warm/ID", with: "/warm/\(id)")
            let words = order.split(separator: " ", maxSplits: 2).map(String.init)
            _ = try await live.ask("/_/rs:fit:300:300/plain/\(base)/2024/1.jpg")
            let answer = try await live.ask(
                words[1], method: words[0], body: words.count > 2 ? Data(words[2].utf8) : nil,
                operations: true)
            let told = try answer.json
            switch words[1] {
            case "/purge":
                let sources = words[2].contains("\"url\"") ? 0 : 1
                #expect(answer.text == .purged(1, sources), "\(order)")
            case "/warm":
                #expect(answer.status == 202)
                id = try #require(told["id"] as? String)
            case "/cache": #expect(answer.status == 200 && answer.text.contains("\"hitRates\""))
            default: #expect(told["isFinished"] is Bool, "\(answer.text)")
            }
            seen.insert(id.isEmpty ? words[1] : words[1].replacing(id, with: "ID"))
        }
        #expect(seen == ["/purge", "/warm", "/warm/ID", "/cache"])
    }

    @Test func anErrorIsTheDocumentOfTheGuide() async throws {
        let live = try await LiveServer.start()
        let answer = try await live.told("/_/w:-1/\(Self.china)")
        let told = try answer.json
        let keys = try code(beginning: "{\"code\"").matches(of: /"([A-Za-z]+)":…/).map {
            String($0.1)
        }
        #expect(keys.count == 3 && Set(told.keys) == Set(keys))
    }

    /// An argument that each option takes.
    private static let arguments = [
        "resize": "fit:20:20", "resizing_type": "fill", "width": "20", "height": "20",
        "min-width": "20", "min-height": "20", "dpr": "2", "zoom": "0.5", "enlarge": "1",
        "crop": "20:20", "gravity": "fp:0.2:0.3", "trim": "10", "rotate": "90", "flip": "1",
        "extend": "1", "extend_aspect_ratio": "1", "padding": "1:2", "blur": "2", "sharpen": "1",
        "pixelate": "3", "watermark": "1:re", "background": "ff0000", "quality": "50",
        "format_quality": "jpeg:50", "max_bytes": "9999", "format": "png", "ext": "webp",
        "strip_metadata": "0", "keep_copyright": "0", "strip_color_profile": "0",
        "auto_rotate": "0", "preserve_hdr": "1", "skip_processing": "png", "raw": "1",
        "cachebuster": "a", "expires": "4102444800", "filename": "a", "return_attachment": "1",
        "preset": "tiny", "max_src_resolution": "1", "max_src_file_size": "999999",
        "max_animation_frames": "2", "max_animation_frame_resolution": "1",
        "max_result_dimension": "100",
    ]

    @Test func eachOptionOfTheTableIsTakenByAllItsNames() async throws {
        let live = try await LiveServer.start {
            $0.processing.allowsRaw = true
            $0.processing.allowsSecurityOptions = true
            $0.processing.presets = ["tiny=w:9"]
        }
        var missing = Set(Self.arguments.keys)
        for row in guide.rows(below: "option, short | arguments") {
            var argument: String?
            for name in ServerGuide.code(in: row[0]) {
                if missing.remove(name) != nil { argument = Self.arguments[name] }
                let option = "\(name):\(try #require(argument, "\(name) is new"))"
                let answer = try await live.ask("/_/\(option)/\(Self.china)")
                #expect(answer.status == 200, "\(option) \(answer.text)")
            }
        }
        #expect(missing == [])
    }

    @Test func eachOptionOfInformationTellsWhatTheTableSays() async throws {
        let exif = TaggedJPEG.exif(texts: [(0x010F, "Camera")])
        let live = try await LiveServer.start(files: [
            "a.jpg": try TaggedJPEG.data(exif: exif, profile: SwappedProfile.data),
            "a.gif": try LiveServer.sample("kingfisher.gif"),
        ])
        let arguments = [
            "palette": "5", "p": "5", "blurhash": "4:3", "bh": "4:3", "hash": "sha256",
            "h": "sha256",
        ]
        let rows = guide.rows(below: "option, short | tells")
        #expect(rows.count > 12)
        for row in rows {
            for words in ServerGuide.code(in: row[0]) {
                let name = String(words.prefix { $0 != ":" })
                let file = name == "animation" ? "a.gif" : "a.jpg"
                let answer = try await live.ask(
                    "/info/_/\(name):\(arguments[name] ?? "1")/plain/local:///\(file)")
                // Where the table names no field, it is that of the option.
                let field = ServerGuide.code(in: row[1]).first ?? name
                #expect(try answer.json[field] != nil, "\(name) \(answer.text)")
            }
        }
    }

    @Test func pathsOfIIIFAreThoseOfTheGuide() async throws {
        let live = try await LiveServer.start { $0.serveIIIF() }
        let document = try code(after: "level 2 and more").replacing("ID", with: "china")
        #expect(try await live.ask(document).text.contains("\"type\":\"ImageService3\""))
        let picture = try code(after: "level 2 and more", beginning: "/iiif/3/ID/REGION")
            .replacing("ID/REGION/SIZE/ROTATION/QUALITY.FORMAT", with: "china/full/200,/0/gray.png")
        #expect(try size(try await live.ask(picture)) == "image/png 200×133")
    }

    // MARK: Recipes

    @Test func withPresetsOnlyNobodyAsksForOtherWork() async throws {
        let list = try code(after: "**Presets only.**", beginning: "[")
        let presets = try JSONDecoder().decode([String].self, from: Data(list.utf8))
        let live = try await LiveServer.start {
            $0.processing.onlyPresets = true
            $0.processing.presets = presets
        }
        let path = try code(after: "**Presets only.**", beginning: "/SIGNATURE")
            .replacing("SIGNATURE", with: "_").replacing("SOURCE", with: Self.china)
        #expect(try size(try await live.ask(path)) == "image/webp 200×200")
        #expect(try await live.ask("/_/w:100/\(Self.china)").status == 404)
    }

    private static let systemd = "/usr/bin/systemd-analyze"

    @Test(
        .enabled(if: FileManager.default.isExecutableFile(atPath: systemd)),
        arguments: [
            ("server/halcyon-server.service", "halcyon-server.service"),
            ("server/cluster/halcyon-server@.service", "halcyon-server@8080.service"),
        ])
    func systemdTakesTheUnit(path: String, name: String) async throws {
        let unit = try ServerGuide.text("docs/\(path)")
        let program = "/usr/bin/halcyon-server"
        #expect(unit.contains("ExecStart=\(program) "))
        let copy = try folder.write(Data(unit.replacing(program, with: executable).utf8), to: name)
        let slice = try folder.write(
            Data(ServerGuide.text("docs/server/cluster/halcyon.slice").utf8), to: "halcyon.slice")
        let verified = try await run(program: Self.systemd, ["verify", copy.path, slice.path])
        #expect(verified.code == 0 && verified.errors == "", "\(verified.errors)")
        // Its own measure of what a service may still do: 2.0 of 10.
        let security = try await run(
            program: Self.systemd, ["security", "--offline=true", "--threshold=20", copy.path])
        #expect(security.code == 0, "\(security.output.suffix(200))")
        let start = try #require(unit.firstMatch(of: /ExecStart=([^\n]+)/)?.1)
            .replacing("%d/keys", with: folder.file("keys").path)
            .replacing("/etc/halcyon/server.json", with: folder.file("server.json").path)
            .replacing("%C", with: folder.url.path).replacing("%i", with: "8080")
        try folder.write(Data(keyAndSalt.utf8), to: "keys")
        try folder.write(
            Data("{\"sources\":{\"http\":{\"allow\":[\"*\"]}}}".utf8), to: "server.json")
        let checked = try await run(
            start.split(separator: " ").dropFirst().map(String.init) + ["--check"])
        #expect(checked.code == 0, "\(checked.errors)")
    }

    private static let nginx = "/usr/sbin/nginx"

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: nginx)))
    func behindNginxPathsArriveAsTheyWereSent() async throws {
        let live = try await LiveServer.start()
        let port = try ClosedPort(isReserved: true)
        let server = try ServerGuide.text("docs/server/nginx.conf")
            .replacing("listen 80;", with: "listen 127.0.0.1:\(port.number);")
            .replacing("127.0.0.1:8080;", with: "127.0.0.1:\(live.port);")
            .replacing("/var/cache/nginx/pictures", with: folder.file("pictures").path)
        let places = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
            "\($0)_temp_path \(folder.url.path)/\($0);"
        }.joined()
        let configuration = """
            daemon off; pid \(folder.url.path)/pid; error_log stderr notice;
            events {}
            http { access_log off; \(places)
            \(server) }
            """
        let file = try folder.write(Data(configuration.utf8), to: "nginx.conf")
        let (child, log) = try ChildLines.of {
            try start(
                program: Self.nginx, ["-e", "stderr", "-p", folder.url.path, "-c", file.path],
                errors: $0)
        }
        defer { child.send(SIGTERM) }
        func status(_ target: String) async throws -> Int {
            let url = try #require(URL(string: "http://127.0.0.1:\(port.number)\(target)"))
            return try await LiveServer.Answer(to: URLRequest(url: url)).status
        }
        // It listens before it has workers.
        _ = try #require(await log.line(containing: "start worker process"), "\(log.all)")
        #expect(try await status("/_/w:20/\(Self.china)") == 200, "\(log.all)")
        let encoded = "/_/w:20/plain/local:%2F%2F%2Fchina.jpg%40png"
        #expect(try await status(encoded) == (try await live.ask(encoded).status))
    }
}
