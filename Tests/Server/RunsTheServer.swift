import Foundation
import HalcyonTestKit
import Testing

/// A suite that runs the program halcyon-server.
protocol RunsTheServer {
    /// Where the program writes what it says, and keeps its caches.
    var folder: TemporaryDirectory { get }
}

/// What a program has said, and how it has ended.
struct EndedProgram {
    let code: Int32
    let output: String
    let errors: String
}

/// The program while it serves.
struct RunningServer: Sendable {
    let child: ChildProcess
    let log: ChildLines
    let port: ClosedPort

    func connect() throws -> RawClient { try RawClient(port: port.number) }

    /// The answer on a connection of its own; an empty one where nobody listens.
    func answer(_ target: String) async -> (status: String, body: [UInt8]) {
        guard let client = try? connect() else { return ("", []) }
        let answer = await client.exchange(target, headers: ["Connection: close"])
        return (String(answer.head.dropFirst(9).prefix(3)), answer.body)
    }

    func status(_ target: String) async -> String { await answer(target).status }

    /// Sends a signal, and waits for the code with which the program ends.
    func end(_ signal: Int32 = SIGTERM) async -> Int32? {
        child.send(signal)
        return await child.exitCode()
    }
}

extension RunsTheServer {
    /// Starts the program with the sample pictures and settings such as `work.queue=1`, and waits until it listens.
    ///
    /// - Parameters:
    ///   - arguments: Those besides.
    ///   - shell: What a shell does before.
    func serve(
        _ settings: String..., arguments: [String] = [], on port: ClosedPort? = nil,
        environment: [String: String] = [:], after shell: String? = nil
    ) async throws -> RunningServer {
        let port = try port ?? ClosedPort(isReserved: true)
        let usual = [
            "--unsigned", "--bind", "127.0.0.1:\(port.number)", "--ops-bind", "off",
            "--cache-directory", folder.file("caches").path,
        ]
        let samples = try #require(LiveServer.samples)
        let all = ["log.format=json", "sources.local.root=\(samples)"] + settings
        let (child, log) = try ChildLines.of {
            try start(
                usual + all.flatMap { ["--set", $0] } + arguments,
                environment: environment, errors: $0, after: shell)
        }
        _ = try #require(await log.line(containing: "\"listening\""), "\(log.all)")
        return RunningServer(child: child, log: log, port: port)
    }

    var executable: String { BuiltProgram.file("halcyon-server").path }

    /// Starts the program, which writes to the files run.out and run.err unless told to write elsewhere.
    ///
    /// - Parameter shell: What a shell does before.
    func start(
        _ arguments: [String], environment: [String: String] = [:], output: Int32? = nil,
        errors: Int32? = nil, after shell: String? = nil
    ) throws -> ChildProcess {
        try start(
            program: shell == nil ? executable : "/bin/sh",
            shell.map { ["-c", "\($0); exec \"$0\" \"$@\"", executable] + arguments } ?? arguments,
            environment: environment, output: output, errors: errors)
    }

    /// Starts any program in the same manner.
    func start(
        program: String, _ arguments: [String], environment: [String: String] = [:],
        output: Int32? = nil, errors: Int32? = nil
    ) throws -> ChildProcess {
        let descriptors = ["out", "err"].map {
            open(folder.file("run.\($0)").path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        }
        defer { for descriptor in descriptors { close(descriptor) } }
        let input = open("/dev/null", O_RDONLY)
        defer { close(input) }
        return try ChildProcess(
            executable: program, arguments: arguments,
            environment: ["XDG_CACHE_HOME": folder.url.path].merging(environment) { $1 },
            standardInput: input, standardOutput: output ?? descriptors[0],
            standardError: errors ?? descriptors[1])
    }

    /// What stands in a file of the folder.
    func text(_ file: String) -> String {
        (try? String(contentsOf: folder.file(file), encoding: .utf8)) ?? ""
    }

    func run(
        _ arguments: [String], environment: [String: String] = [:]
    ) async throws -> EndedProgram {
        try await end(of: start(arguments, environment: environment))
    }

    func run(program: String, _ arguments: [String]) async throws -> EndedProgram {
        try await end(of: start(program: program, arguments))
    }

    private func end(of child: ChildProcess) async throws -> EndedProgram {
        let code = try #require(await child.exitCode())
        return EndedProgram(code: code, output: text("run.out"), errors: text("run.err"))
    }
}
