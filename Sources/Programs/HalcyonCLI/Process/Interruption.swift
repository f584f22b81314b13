import Dispatch
import Foundation
import HalcyonWork
import Synchronization

/// Runs work that is cancelled by Ctrl-C (`SIGINT`), `SIGTERM` or `SIGHUP`, or when the reader of
/// standard output closes the pipe.
///
/// The first signal cancels the work, which then has five seconds to clean up; a second one ends
/// the process at once. Work that can be asked to stop is asked by a signal before these. In any case no unfinished
/// file is left.
final class Interruption: Sendable {
    /// The error of work that was cancelled by a signal.
    struct Signalled: Error {
        let signal: Int32
        /// The exit code by the convention of shells for signals: 130 for Ctrl-C.
        var exitCode: Int32 { 128 + signal }
    }

    private struct State {
        var signal: Int32?
        var isStopping = false
        var cancel: (@Sendable () -> Void)?
    }

    /// Seconds for cancelled work to end: it may be waiting for something that never happens.
    private static let patience = 5.0

    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "halcyon.signals")

    /// Runs `work`; it is cancelled by a signal.
    ///
    /// - Parameters:
    ///   - stop: Called by the first signal in place of the cancellation: the work ends by itself, as soon as it can,
    ///     and a second signal is then the first.
    ///   - atOnce: Called before a second signal ends the process.
    /// - Throws: `Signalled` after a signal, whatever `work` made of its cancellation; else what
    ///   `work` throws.
    func run<Value: Sendable>(
        stop: (@Sendable () -> Void)? = nil, atOnce: @escaping @Sendable () -> Void = {},
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        // Writing to a closed pipe shall fail with an error instead of ending the process.
        signal(SIGPIPE, SIG_IGN)
        let signals = [SIGINT, SIGTERM, SIGHUP].filter {
            // As under nohup.
            $0 != SIGHUP || !ProcessSignals.isIgnored($0)
        }
        let listening = ProcessSignals.listen(to: signals) { [weak self] in
            self?.take($0, stop: stop, atOnce: atOnce)
        }
        defer { listening.cancel() }
        let task = Task { try await work() }
        let isSignalled = state.withLock { state in
            state.cancel = { task.cancel() }
            return state.signal != nil
        }
        if isSignalled { task.cancel() }
        let result = await task.result
        if let signal = state.withLock({ $0.signal }) { throw Signalled(signal: signal) }
        return try result.get()
    }

    /// Cancels the work as `signal` would; returns `false` if it was already cancelled.
    @discardableResult
    func interrupt(_ signal: Int32) -> Bool {
        let (isFirst, cancel) = state.withLock { state in
            defer { if state.signal == nil { state.signal = signal } }
            return (state.signal == nil, state.cancel)
        }
        if isFirst { cancel?() }
        return isFirst
    }

    private func take(
        _ number: Int32, stop: (@Sendable () -> Void)?, atOnce: @escaping @Sendable () -> Void
    ) {
        let wasStopping = state.withLock { state in
            defer { state.isStopping = true }
            return state.isStopping
        }
        if let stop, !wasStopping { return stop() }
        let end: @Sendable () -> Void = {
            PendingFile.discardAll()
            atOnce()
            _exit(128 + number)
        }
        if interrupt(number) {
            queue.asyncAfter(deadline: .now() + Self.patience, execute: end)
        } else {
            end()
        }
    }
}
