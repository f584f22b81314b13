package import HalcyonWork
import NIOCore
import NIOPosix
import Synchronization

/// A Redis server, connected to when something is asked of it, and let alone for a while when it fails.
///
/// No call takes longer than the time limit of the settings, whatever the server does.
package final class RedisClient: Sendable {
    private enum Link {
        case none
        case opening(OneShot<Result<RedisConnection, RedisError>>)
        case open(RedisConnection)
    }

    private struct State {
        var breaker: CircuitBreaker
        var link = Link.none
        var isClosed = false
    }

    package let settings: RedisSettings
    private let time: TimeSource
    private let onPause: @Sendable (RedisError) -> Void
    private let state: Mutex<State>

    /// - Parameter onPause: Told why the server is let alone, once for each time that it was good before.
    package init(
        _ settings: RedisSettings, time: TimeSource = .system,
        onPause: @escaping @Sendable (RedisError) -> Void = { _ in }
    ) {
        self.settings = settings
        self.time = time
        self.onPause = onPause
        state = Mutex(
            State(
                breaker: CircuitBreaker(
                    failures: settings.failuresUntilPause, pause: settings.pause,
                    longestPause: settings.longestPause)))
    }

    deinit { close() }

    package var breakerState: CircuitBreaker.State { state.withLock { $0.breaker.state } }

    /// Opens the connection before it is needed: to connect takes part of the time of the first question.
    package func connect() {
        let opening = OneShot<Result<RedisConnection, RedisError>>()
        let isWanted = state.withLock { state in
            guard !state.isClosed, case .none = state.link else { return false }
            state.link = .opening(opening)
            return true
        }
        if isWanted { open(opening) }
    }

    /// Sends commands together; returns one answer for each, none of them an error.
    package func send(_ commands: [RESPCommand]) async throws(RedisError) -> [RESPValue] {
        guard state.withLock({ $0.breaker.admit(at: time.now) }) else { throw .paused }
        let deadline = time.now + settings.timeout
        do throws(RedisError) {
            let connection = try await connection(until: deadline)
            let replies = try await connection.send(commands, until: deadline)
            state.withLock { $0.breaker.succeed() }
            return replies
        } catch {
            if state.withLock({ $0.breaker.fail(at: time.now) }) { onPause(error) }
            throw error
        }
    }

    /// Ends the connection; later calls fail.
    package func close() {
        let link = state.withLock { state in
            state.isClosed = true
            defer { state.link = .none }
            return state.link
        }
        switch link {
        case .none: break
        case .open(let connection): connection.close()
        case .opening(let opening):
            opening.whenGiven { outcome in
                if case .success(let connection) = outcome { connection.close() }
            }
        }
    }

    /// The connection, which the first caller opens for all.
    private func connection(
        until deadline: ContinuousClock.Instant
    ) async throws(RedisError) -> RedisConnection {
        enum Step {
            case use(RedisConnection)
            case wait(OneShot<Result<RedisConnection, RedisError>>, isOwn: Bool)
            case refuse
        }
        let step: Step = state.withLock { state in
            if state.isClosed { return .refuse }
            switch state.link {
            case .open(let connection) where connection.isOpen: return .use(connection)
            case .opening(let opening): return .wait(opening, isOwn: false)
            case .open, .none:
                let opening = OneShot<Result<RedisConnection, RedisError>>()
                state.link = .opening(opening)
                return .wait(opening, isOwn: true)
            }
        }
        switch step {
        case .use(let connection): return connection
        case .refuse: throw .unreachable("the client has been closed")
        case .wait(let opening, let isOwn):
            if isOwn { open(opening) }
            return try await opening.value(
                until: deadline, by: time, on: MultiThreadedEventLoopGroup.singleton.any(),
                else: .failure(.timedOut)
            ).get()
        }
    }

    private func open(_ opening: OneShot<Result<RedisConnection, RedisError>>) {
        // It may take longer than those who wait for it.
        Task { [settings, time, weak self] in
            let outcome: Result<RedisConnection, RedisError>
            do throws(RedisError) {
                outcome = .success(try await RedisConnection.open(settings, time: time))
            } catch {
                outcome = .failure(error)
            }
            let isWanted =
                self?.state.withLock { state in
                    guard !state.isClosed else { return false }
                    if case .success(let connection) = outcome {
                        state.link = .open(connection)
                    } else {
                        state.link = .none
                    }
                    return true
                } ?? false
            opening.give(outcome)
            if !isWanted, case .success(let connection) = outcome { connection.close() }
        }
    }
}
