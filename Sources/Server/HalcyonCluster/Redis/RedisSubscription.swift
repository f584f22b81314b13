package import HalcyonWork
package import NIOCore
import NIOPosix

/// A subscription to channels of a Redis server until deinitialization: reconnects when the
/// connection has ended, after growing pauses.
///
/// Messages published while disconnected are missed.
package final class RedisSubscription: Sendable {
    package let isConnected = Observed(false)
    private let task: Task<Void, Never>

    /// - Parameters:
    ///   - onConnection: Called each time listening begins: earlier messages may have been missed.
    ///   - onMessage: Called for each message, on a thread of the network.
    package init(
        _ settings: RedisSettings, channels: [String], time: TimeSource = .system,
        onConnection: @escaping @Sendable () -> Void = {},
        onMessage: @escaping @Sendable (_ channel: String, _ content: ByteBuffer) -> Void
    ) {
        let listener = Listener(
            isConnected: isConnected, settings: settings, channels: channels, time: time,
            onConnection: onConnection, onMessage: onMessage)
        task = Task { await listener.run() }
    }

    deinit { task.cancel() }
}

/// The state of a subscription's task, which must not retain the subscription.
private struct Listener: Sendable {
    let isConnected: Observed<Bool>
    let settings: RedisSettings
    let channels: [String]
    let time: TimeSource
    let onConnection: @Sendable () -> Void
    let onMessage: @Sendable (String, ByteBuffer) -> Void
    /// The interval of pings, by which a silently broken connection is noticed.
    let pingInterval = Duration.seconds(2)

    func run() async {
        let first = settings.breaker.pause
        var pause = first
        while !Task.isCancelled {
            if await listen() { pause = first }
            // Only cancellation ends it before its time, and that ends the loop.
            try? await time.sleep(for: pause * Double.random(in: 0.5...1))
            pause = min(pause * 2, settings.breaker.longestPause)
        }
    }

    /// Handles one connection to its end; returns whether it got as far as listening.
    private func listen() async -> Bool {
        let ended = OneShot<Bool>()
        return await withTaskCancellationHandler {
            do throws(RedisError) {
                let connection = try await RedisConnection.open(
                    settings, time: time, onMessage: onMessage, onEnd: { ended.give(true) })
                defer { connection.close() }
                return await listen(on: connection, until: ended)
            } catch {
                // Whatever the error, the next attempt comes after the pause.
                return false
            }
        } onCancel: {
            ended.give(true)
        }
    }

    private func listen(on connection: RedisConnection, until ended: OneShot<Bool>) async -> Bool {
        let limit = max(settings.timeout, .seconds(1))
        var isListening = false
        do throws(RedisError) {
            let commands: [RESPCommand] = channels.map { ["SUBSCRIBE", $0] }
            _ = try await connection.send(commands, until: time.now + limit)
            isListening = true
            isConnected.update { $0 = true }
            onConnection()
            let pings = Task { [pingInterval, time] in
                do {
                    while true {
                        try await time.sleep(for: pingInterval)
                        _ = try await connection.send([["PING"]], until: time.now + limit)
                    }
                } catch {
                    // No reply, or the connection has ended by itself.
                    ended.give(true)
                }
            }
            defer { pings.cancel() }
            _ = await ended.value
        } catch {
            // Reported by `isListening`.
        }
        isConnected.update { $0 = false }
        return isListening
    }
}
