import ArgumentParser
import Foundation
import HalcyonWork
import Logging

/// Runs a command's work so that signals stop it, and errors become a message and an exit code.
enum CommandRunner {
    /// Returns what `work` returns, after everything it printed was written. Once per process.
    /// - Throws: `ExitCode`.
    static func run<Value: Sendable>(
        _ interruption: Interruption, _ console: Console,
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        LoggingSystem.bootstrap { _ in ConsoleLogHandler(console: console) }
        // What a signal has stopped may still be under way.
        defer { ProgramEnd.skipsDestruction() }
        do {
            let value = try await interruption.run(atOnce: { console.eraseNow() }, work)
            try await console.finish()
            return value
        } catch let interrupted as Interruption.Signalled {
            // What standard output still takes is written; that it is gone is known already.
            try? await console.finish()
            throw ExitCode(interrupted.exitCode)
        } catch let lost as Console.OutputLost where lost.isClosedPipe {
            throw ExitCode(128 + SIGPIPE)
        } catch {
            // The first error is the one to tell of.
            try? await console.finish()
            let text = "halcyon: \(ErrorText.of(error))\n"
            try? StandardStream.error.write(text)
            throw ExitCode.failure
        }
    }
}

/// Writes what the library logs to the console, so that it does not spoil the progress.
struct ConsoleLogHandler: LogHandler {
    let console: Console
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level = .warning

    init(console: Console) {
        self.console = console
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        console.note("halcyon: \(event.level): \("\(event.message)".printable)")
    }
}
