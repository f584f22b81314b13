import Foundation
import FoundationNetworking
import Glibc
import HalcyonTestKit
import Testing

/// A Chromium without a window, driven by the protocol of WebDriver (W3C), and through it by that of
/// DevTools.
final class Browser: Sendable {
    struct Problem: Error, CustomStringConvertible { let description: String }

    private static let executables = ["/usr/bin/chromium", "/usr/bin/chromedriver"]
    /// Debian's packages chromium and chromium-driver, which ./test installs.
    static let isInstalled = executables.allSatisfy {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    private let driver: ChildProcess
    private let folder: TemporaryDirectory
    /// That of the session.
    private let address: String

    private init(_ driver: ChildProcess, _ folder: TemporaryDirectory, _ address: String) {
        self.driver = driver
        self.folder = folder
        self.address = address
    }

    deinit {
        // Takes the browser with it.
        driver.send(SIGTERM)
    }

    static func start() async throws -> Browser {
        let folder = try TemporaryDirectory(prefix: "halcyon-browser")
        var environment = ProcessInfo.processInfo.environment
        for name in ["HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"] {
            environment[name] = folder.url.path
        }
        let (driver, port) = try await Self.driver(environment)
        let base = "http://127.0.0.1:\(port)/session"
        let capabilities: [String: Any] = [
            "goog:chromeOptions": [
                "binary": executables[0],
                // As root there is no sandbox to be had.
                "args": [
                    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                ],
            ],
            "goog:loggingPrefs": ["browser": "ALL", "performance": "ALL"],
        ]
        do {
            let answer = try await send(
                "POST", base, ["capabilities": ["alwaysMatch": capabilities]])
            let session = try #require((answer as? [String: Any])?["sessionId"] as? String)
            return Browser(driver, folder, "\(base)/\(session)")
        } catch {
            driver.send(SIGTERM)
            throw error
        }
    }

    /// Starts a driver. It chooses its port for one kind of address, and ends when that is taken for the
    /// other: then another one is started.
    private static func driver(
        _ environment: [String: String]
    ) async throws -> (ChildProcess, port: String) {
        var last: [String] = []
        for _ in 0..<5 {
            let input = Glibc.open("/dev/null", O_RDONLY)
            defer { close(input) }
            let (driver, log) = try ChildLines.of {
                try ChildProcess(
                    executable: executables[1], arguments: ["--port=0"], environment: environment,
                    standardInput: input, standardOutput: $0, standardError: $0)
            }
            let line = await log.line(containing: "started successfully on port ")
            if let match = line?.firstMatch(of: /port ([0-9]+)/) {
                return (driver, String(match.1))
            }
            last = log.all
        }
        throw Problem(description: "The driver does not start: \(last.joined(separator: "\n"))")
    }

    /// Ends the browser. To be called, so that none outlives the tests.
    func end() async {
        // It may have ended by itself.
        _ = try? await Self.send("DELETE", address, nil)
        driver.send(SIGTERM)
        _ = await driver.exitCode()
    }

    // MARK: What it is told

    func open(_ url: String) async throws { try await command("url", ["url": url]) }

    /// Goes back, or loads the page again.
    func move(_ verb: String) async throws { try await command(verb, [String: String]()) }

    /// A command of DevTools.
    @discardableResult
    func devTools(_ name: String, _ parameters: [String: Any] = [:]) async throws -> [String: Any] {
        let answer = try await command(
            "goog/cdp/execute", ["cmd": name, "params": parameters] as [String: Any])
        return answer as? [String: Any] ?? [:]
    }

    /// Sets the size of what is seen, in pixels of CSS.
    func resize(width: Int, height: Int, scale: Double = 1) async throws {
        try await devTools(
            "Emulation.setDeviceMetricsOverride",
            ["width": width, "height": height, "deviceScaleFactor": scale, "mobile": false])
    }

    func prefer(dark: Bool) async throws {
        try await devTools(
            "Emulation.setEmulatedMedia",
            ["features": [["name": "prefers-color-scheme", "value": dark ? "dark" : "light"]]])
    }

    /// Presses keys, as WebDriver names them, where the focus is.
    ///
    /// - Parameter shifted: Whether the key for capital letters is held meanwhile.
    func press(_ keys: String..., shifted: Bool = false) async throws {
        var actions = keys.flatMap {
            [["type": "keyDown", "value": $0], ["type": "keyUp", "value": $0]]
        }
        if shifted {
            actions.insert(["type": "keyDown", "value": Self.shift], at: 0)
            actions.append(["type": "keyUp", "value": Self.shift])
        }
        try await command(
            "actions",
            ["actions": [["type": "key", "id": "keyboard", "actions": actions] as [String: Any]]])
    }

    static let tab = "\u{E004}"
    static let enter = "\u{E007}"
    static let shift = "\u{E008}"
    static let endKey = "\u{E010}"
    static let homeKey = "\u{E011}"
    static let left = "\u{E012}"
    static let right = "\u{E014}"
    static let down = "\u{E015}"

    // MARK: What is asked of it

    /// The value of an expression, after waiting if it is a promise.
    func value<Value: Decodable>(
        _ expression: String, as type: Value.Type = Value.self
    ) async throws -> Value {
        let found = try await command(
            "execute/sync", ["script": "return \(expression)", "args": [String]()] as [String: Any])
        let data = try JSONSerialization.data(withJSONObject: [found])
        let values = try JSONDecoder().decode([Value].self, from: data)
        return values[0]
    }

    func run(_ script: String) async throws {
        _ = try await command(
            "execute/sync", ["script": script, "args": [String]()] as [String: Any])
    }

    /// Waits until an expression is true, two minutes at most. It asks again and again: WebDriver tells of no
    /// changes of a page, and a script that waits in it ends where the page is left.
    func wait(until expression: String, _ location: SourceLocation = #_sourceLocation) async throws
    {
        let end = ContinuousClock.now + .seconds(120)
        while ContinuousClock.now < end {
            if try await value("Boolean(\(expression))") { return }
            await pause()
        }
        let state = try await value(
            "document.getElementById('status')?.textContent ?? ''", as: String.self)
        Issue.record(
            "It never came true: \(expression); the page says: \(state)", sourceLocation: location)
        throw Problem(description: "It never came true: \(expression)")
    }

    /// The lines of a log since the last call: `browser` or `performance`.
    func log(_ kind: String) async throws -> [String] {
        let entries = try await command("se/log", ["type": kind])
        return (entries as? [[String: Any]] ?? []).map { entry in
            "\(entry["level"] ?? "") \(entry["message"] ?? "")"
        }
    }

    @discardableResult private func command(_ path: String, _ body: Any) async throws -> Any {
        try await Self.send("POST", "\(address)/\(path)", body)
    }

    private static func send(_ method: String, _ url: String, _ body: Any?) async throws -> Any {
        var request = URLRequest(url: try #require(URL(string: url)))
        request.httpMethod = method
        request.allHTTPHeaderFields = ["Content-Type": "application/json"]
        request.httpBody = try body.map { try JSONSerialization.data(withJSONObject: $0) }
        // On a busy machine the browser takes its time, to start above all.
        let answer = try await LiveServer.Answer(to: request, stall: .seconds(300))
        let document = try JSONSerialization.jsonObject(with: answer.body) as? [String: Any]
        let value = document?["value"] ?? NSNull()
        guard answer.status == 200 else { throw Problem(description: "\(url): \(value)") }
        return value
    }
}
