import HalcyonWork
import NIOCore
import Synchronization

/// The messages of one topic in order: a stream of Redis, which each node reads from its beginning,
/// or from its position before a restart, and on whenever there may be more. So a node also
/// receives messages from before its start, or from while it was disconnected.
final class MessageLog: Sendable {
    private struct State {
        var last: String
        var isReading = false
        /// Whether there may be more entries than those being read.
        var hasMore = false

        /// Whether to read on; otherwise reading has ended.
        mutating func takeMore(isGivenUp: Bool) -> Bool {
            let reads = hasMore && !isGivenUp
            hasMore = false
            if !reads { isReading = false }
            return reads
        }
    }

    private let client: RedisClient
    private let key: String
    /// The number of messages kept; older ones are lost to nodes that have not read them.
    private let length: Int
    private let time: TimeSource
    private let onMessage: @Sendable (ToldMessage) -> Void
    private let state: Mutex<State>

    /// - Parameter last: The position of the last message received; `nil` for none.
    init(
        _ client: RedisClient, key: String, length: Int, after last: MessagePlace?,
        time: TimeSource,
        onMessage: @escaping @Sendable (ToldMessage) -> Void
    ) {
        self.client = client
        self.key = key
        self.length = length
        self.time = time
        self.onMessage = onMessage
        state = Mutex(State(last: last?.text ?? "-"))
    }

    func appending(_ message: ByteBuffer) -> RESPCommand {
        var command: RESPCommand = ["XADD", key, "MAXLEN", "~", "\(length)", "*", "m"]
        command.arguments.append(message)
        return command
    }

    /// Reads on, in a task of its own.
    func readOn() {
        let isFirst = state.withLock { state in
            state.hasMore = true
            defer { state.isReading = true }
            return !state.isReading
        }
        guard isFirst else { return }
        Task {
            var failures = 0
            while state.withLock({ $0.takeMore(isGivenUp: failures > 30) }) {
                do throws(RedisError) {
                    while try await readPage() {}
                    failures = 0
                } catch {
                    // The next connection starts reading anew, too.
                    failures += 1
                    state.withLock { $0.hasMore = true }
                    try? await time.sleep(for: .milliseconds(500))
                }
            }
        }
    }

    /// - Returns: Whether there were any entries.
    private func readPage() async throws(RedisError) -> Bool {
        let last = state.withLock { $0.last }
        let replies = try await client.send([["XRANGE", key, last, "+", "COUNT", "500"]])
        var hasRead = false
        for entry in replies.first?.array ?? [] {
            guard let parts = entry.array, parts.count == 2, let id = parts[0].text, id != last,
                let place = MessagePlace(id), let fields = parts[1].array,
                let message = fields.last?.bytes
            else { continue }
            hasRead = true
            state.withLock { $0.last = id }
            onMessage(ToldMessage(place: place, content: message))
        }
        return hasRead
    }
}
