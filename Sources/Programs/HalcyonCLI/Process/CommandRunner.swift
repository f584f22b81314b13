import ArgumentParser
import Foundation
import HalcyonWork
import Logging
import Vips

/// Runs a command's work so that signals stop it, and errors become a message and an exit code.
enum CommandRunner {
    /// Runs `work`, which returns the number of failures, after which the exit code is 1.
    /// - Throws: `ExitCode`.
    static func countFailures(
        quiet: Bool = false, _ work: @escaping @Sendable (Console) async throws -> Int
    ) async throws {
        let failures = try await run(quiet: quiet, work)
        if failures > 0 { throw ExitCode.failure }
    }

    /// Returns what `work` returns, after everything it printed was written. Once per process.
    ///
    /// - Parameter stop: Called by the first signal, which then does not cancel the work.
    /// - Throws: `ExitCode`.
    static func run<Value: Sendable>(
        quiet: Bool = false, stop: (@Sendable () -> Void)? = nil,
        _ work: @escaping @Sendable (Console) async throws -> Value
    ) async throws -> Value {
        let interruption = Interruption()
        let console = Console(quiet: quiet) { interruption.interrupt(SIGPIPE) }
        LoggingSystem.bootstrap { _ in ConsoleLogHandler(console: console) }
        // What a signal has stopped may still be under way.
        defer { ProgramEnd.skipsDestruction() }
        do {
            let value = try await interruption.run(stop: stop, atOnce: { console.eraseNow() }) {
                try await work(console)
            }
            try await console.finish()
            return value
        } catch let interrupted as Interruption.Signalled {
            do {
                try await console.finish()
            } catch {
                throw end(after: error)
            }
            throw ExitCode(interrupted.exitCode)
        } catch {
            // The first error is the one to report.
            try? await console.finish()
            throw end(after: error)
        }
    }

    private static func end(after error: any Error) -> ExitCode {
        if let lost = error as? Console.OutputLost, lost.isClosedPipe {
            return ExitCode(128 + SIGPIPE)
        }
        // A failure of standard error cannot be reported anywhere.
        try? StandardStream.error.write("halcyon: \(ErrorText.of(error))\n")
        return ExitCode.failure
    }
}

/// Writes what the library logs to the console, so that it does not spoil the progress.
struct ConsoleLogHandler: LogHandler {
    let console: Console
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level = .warning

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        console.note("halcyon: \(event.level): \("\(event.message)".printable)")
    }
}

/// Where encoding, drawing and writing files happens: never on Swift's cooperative threads.
enum BlockingWork {
    /// A few threads even where there is one core: some work waits for files.
    private static let pool = ThreadPool(
        name: "halcyon.work", width: max(4, Processors.count), afterEachJob: { Vips.endJob() })

    static func run<Value: Sendable>(
        _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await pool.run(body)
    }
}
