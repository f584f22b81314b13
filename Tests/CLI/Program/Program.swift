import Foundation
import HalcyonTestKit
import Testing

/// The built program, run as a process of its own with a home of its own.
final class Program: Sendable {
    /// How a run ended and what it wrote.
    struct Outcome: Sendable {
        let exitCode: Int32
        let output: String
        let error: String

        /// The lines on standard output.
        var lines: [String] { output.split(separator: "\n").map(String.init) }

        /// The JSON object in the first line; it is empty when there is none.
        var row: [String: Any] { get throws { try rows.first ?? [:] } }

        /// The JSON objects on standard output, one per line.
        var rows: [[String: Any]] {
            get throws {
                try lines.map { line in
                    let object = try JSONSerialization.jsonObject(with: Data(line.utf8))
                    return try #require(object as? [String: Any], "\(line)")
                }
            }
        }
    }

    /// Where the program runs; its default cache is in it too.
    let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory(prefix: "halcyon-program") }

    static let executable = BuiltProgram.file("halcyon")

    /// Runs the program to its end, and checks its code if one is given.
    func run(
        _ arguments: String..., code: Int32? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Outcome {
        try await run(arguments, code: code, sourceLocation: sourceLocation)
    }

    func run(
        _ arguments: [String], script: String? = nil, code: Int32? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Outcome {
        let outcome = try await start(arguments, script: script).outcome()
        if let code {
            #expect(outcome.exitCode == code, "\(outcome.error)", sourceLocation: sourceLocation)
        }
        return outcome
    }

    /// Starts the program with its own descriptors, or with `/bin/sh` and `script` in place of it,
    /// where `$0` is the program and `$1` and so on are the arguments.
    func start(
        _ arguments: [String], environment: [String: String] = [:], script: String? = nil,
        output: FileHandle? = nil, error: FileHandle? = nil
    ) throws -> Run {
        let files = ["out", "err"].map { folder.file(".\(UUID().uuidString).\($0)") }
        for file in files { try Data().write(to: file) }
        let environment = [
            "PATH": "/usr/bin:/bin", "HOME": folder.url.path, "TMPDIR": folder.url.path,
            "XDG_CACHE_HOME": folder.file("caches").path, "TERM": "xterm",
        ].merging(environment) { $1 }
        let output = try output ?? FileHandle(forWritingTo: files[0])
        let error = try error ?? FileHandle(forWritingTo: files[1])
        let process = try ChildProcess(
            executable: script == nil ? Self.executable.path : "/bin/sh",
            arguments: script.map { ["-c", $0, Self.executable.path] + arguments } ?? arguments,
            environment: environment, directory: folder.url.path,
            standardInput: FileHandle.nullDevice.fileDescriptor,
            standardOutput: output.fileDescriptor, standardError: error.fileDescriptor)
        return Run(process: process, files: files)
    }

    /// Starts the program, and reads its output as it comes.
    func follow(_ arguments: [String]) throws -> (run: Run, output: ChildLines) {
        var started: Run?
        let (_, output) = try ChildLines.of { descriptor in
            let run = try start(arguments, output: FileHandle(fileDescriptor: descriptor))
            started = run
            return run.process
        }
        return (try #require(started), output)
    }

    /// A running program.
    struct Run: Sendable {
        fileprivate let process: ChildProcess
        /// Of its output and its errors; empty when the stream led elsewhere.
        fileprivate let files: [URL]

        func send(_ signal: Int32) { process.send(signal) }

        /// Waits for the end.
        func outcome() async throws -> Outcome {
            guard let exitCode = await process.exitCode() else {
                process.send(SIGTERM)
                throw CancellationError()
            }
            let texts = try files.map { String(decoding: try Data(contentsOf: $0), as: UTF8.self) }
            return Outcome(exitCode: exitCode, output: texts[0], error: texts[1])
        }
    }
}

/// Tests of the program beside a server that it loads from.
protocol ProgramSuite {
    var program: Program { get }
    var origin: OriginServer { get }
}

extension ProgramSuite {
    /// The program, and a server of some pictures.
    static func start() async throws -> (Program, OriginServer) {
        let files = [
            "/a.png": Pictures.png(), "/b.gif": Pictures.gif,
            "/c.png": Pictures.png(width: 8, height: 6),
            "/other/a.png": Pictures.png(width: 50, height: 50),
        ]
        return (try Program(), try await OriginServer.start(files: files))
    }

    func url(_ path: String) -> String { origin.url(path).absoluteString }

    /// Does something with the cache in the folder `cache`.
    func cache(_ arguments: String...) async throws -> Program.Outcome {
        try await program.run(["cache"] + arguments + ["--cache-directory", "cache", "--json"])
    }

    /// The names of the files in a folder of the program's.
    func names(in folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: program.folder.file(folder).path)
            .sorted()
    }
}

extension [String: Any] {
    /// What failed, of a row.
    var error: (code: Int?, message: String?) {
        let error = self["error"] as? [String: Any]
        return (error?["code"] as? Int, error?["message"] as? String)
    }

    /// Checks the members that `expected` names.
    func expect(
        _ expected: [String: Any], sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        func text(_ object: [String: Any]) throws -> String {
            String(
                decoding: try JSONSerialization.data(
                    withJSONObject: object, options: .sortedKeys), as: UTF8.self)
        }
        let found = try text(filter { expected.keys.contains($0.key) })
        let wanted = try text(expected)
        #expect(found == wanted, sourceLocation: sourceLocation)
    }
}

/// A pseudo-terminal of a given size, as standard error of a program.
final class PseudoTerminal: Sendable {
    /// The side a person sits at.
    private let master: Int32
    /// The side of the program.
    let handle: FileHandle

    init(columns: UInt16 = 80, rows: UInt16 = 24) throws {
        // The functions of POSIX for this are hidden from Swift; these are what they call.
        let unlock = UInt(0x4004_5431)
        let getNumber = UInt(0x8004_5430)
        var locked: Int32 = 0
        var number: Int32 = 0
        master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard master >= 0, ioctl(master, unlock, &locked) == 0,
            ioctl(master, getNumber, &number) == 0
        else { throw POSIXError(.ENODEV) }
        let slave = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard slave >= 0 else { throw POSIXError(.ENODEV) }
        var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(slave, UInt(TIOCSWINSZ), &size)
        handle = FileHandle(fileDescriptor: slave, closeOnDealloc: true)
    }

    deinit { close(master) }

    /// Waits until what was written to the terminal since the last call fulfils `condition`, and
    /// returns it.
    func text(until condition: @escaping @Sendable (String) -> Bool) async -> String {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { [self] in
                var bytes: [UInt8] = []
                var buffer = [UInt8](repeating: 0, count: 65536)
                while !condition(String(decoding: bytes, as: UTF8.self)) {
                    let count = read(master, &buffer, buffer.count)
                    guard count > 0 else { break }
                    bytes += buffer[..<count]
                }
                continuation.resume(returning: String(decoding: bytes, as: UTF8.self))
            }
        }
    }
}

/// Pictures for the program to load.
enum Pictures {
    static func png(width: Int = 40, height: Int = 30) -> Data {
        PNGFixture.data(.quadrants(width: width, height: height))
    }

    /// Two frames of different colours.
    static let gif = GIFFixture.data(
        [
            .init(.solid(.red, width: 12, height: 8)), .init(.solid(.blue, width: 12, height: 8)),
        ], loopCount: 0)
}
