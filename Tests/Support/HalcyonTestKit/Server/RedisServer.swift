import Foundation

/// Debian's `redis-server` on a socket in a folder of its own, which goes with it.
public final class RedisServer: Sendable {
    /// Whether the program is there.
    public static let isInstalled = FileManager.default.isExecutableFile(atPath: program)
    private static let program = "/usr/bin/redis-server"

    private let folder: TemporaryDirectory
    private let password: String?
    private let child = Locked<ChildProcess?>(nil)

    /// The socket, the same after a restart.
    public var path: String { folder.file("redis").path }

    /// Starts it, and returns when it can be connected to.
    public static func start(password: String? = nil) async throws -> RedisServer {
        let server = try RedisServer(password: password)
        try await server.start()
        return server
    }

    private init(password: String?) throws {
        folder = try TemporaryDirectory(prefix: "redis")
        self.password = password
    }

    deinit { child.value?.send(SIGKILL) }

    /// Starts the server, after `kill` without its former data.
    public func start() async throws {
        let input = open("/dev/null", O_RDONLY)
        defer { close(input) }
        var arguments = [
            "--port", "0", "--unixsocket", path, "--save", "", "--appendonly", "no", "--dir",
            folder.url.path,
        ]
        if let password { arguments += ["--requirepass", password] }
        let (child, log) = try ChildLines.of {
            try ChildProcess(
                executable: Self.program, arguments: arguments, standardInput: input,
                standardOutput: $0, standardError: $0)
        }
        self.child.set(child)
        guard await log.line(containing: "eady to accept connections") != nil else {
            throw URLError(.cannotConnectToHost)
        }
    }

    /// Kills the server at once, without answers to pending requests.
    public func kill() async {
        child.value?.send(SIGKILL)
        _ = await child.value?.exitCode()
    }

    /// Lets it accept connections and take bytes, and do nothing.
    public func freeze() { child.value?.send(SIGSTOP) }

    public func thaw() { child.value?.send(SIGCONT) }
}
