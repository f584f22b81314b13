package import HalcyonWork
import NIOCore
import NIOPosix
import Synchronization

/// A Redis server, connected to when something is asked of it, and let alone for a while when it fails.
///
/// No call takes longer than the time limit of the settings, whatever the server does.
///
/// Calls share the opening of a connection. That is no `WorkTable`: there is one key, and the connection stays for
/// later calls when all callers have left.
package final class RedisClient: Sendable {
    private typealias Opening = OneShot<Result<RedisConnection, RedisError>>

    private enum Link {
        case none
        case opening(Opening)
        case open(RedisConnection)
        /// For good.
        case closed
    }

    private struct State {
        var breaker: CircuitBreaker
        var link = Link.none
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
        state = Mutex(State(breaker: settings.breaker))
    }

    deinit { close() }

    package var breakerState: CircuitBreaker.State { state.withLock { $0.breaker.state } }

    /// Opens the connection before it is needed: to connect takes part of the time of the first question.
    package func connect() {
        if case .wait(let opening, isOwn: true) = nextStep() { open(opening) }
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
            defer { state.link = .closed }
            return state.link
        }
        switch link {
        case .none, .closed: break
        case .open(let connection): connection.close()
        case .opening(let opening):
            opening.whenGiven { outcome in
                if case .success(let connection) = outcome { connection.close() }
            }
        }
    }

    private enum Step {
        case use(RedisConnection)
        case wait(Opening, isOwn: Bool)
        case refuse
    }

    private func nextStep() -> Step {
        state.withLock { state in
            switch state.link {
            case .open(let connection) where connection.isOpen: return .use(connection)
            case .opening(let opening): return .wait(opening, isOwn: false)
            case .open, .none:
                let opening = Opening()
                state.link = .opening(opening)
                return .wait(opening, isOwn: true)
            case .closed: return .refuse
            }
        }
    }

    /// The connection, which the first caller opens for all.
    private func connection(
        until deadline: ContinuousClock.Instant
    ) async throws(RedisError) -> RedisConnection {
        switch nextStep() {
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

    private func open(_ opening: Opening) {
        // It may take longer than those who wait for it.
        Task { [settings, time, weak self] in
            let outcome = await Result { () async throws(RedisError) in
                try await RedisConnection.open(settings, time: time)
            }
            // Closed meanwhile, it is closed with the opening.
            self?.state.withLock { state in
                if case .closed = state.link { return }
                state.link =
                    if case .success(let connection) = outcome { .open(connection) } else { .none }
            }
            opening.give(outcome)
        }
    }
}
