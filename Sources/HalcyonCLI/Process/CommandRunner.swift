import ArgumentParser
import Foundation
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
