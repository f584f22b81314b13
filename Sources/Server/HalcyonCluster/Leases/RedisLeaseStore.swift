package import HalcyonWork
package import NIOCore

/// Records, leases and messages in a Redis server.
///
/// A record is a hash with `g`, its generation, and `c`, its content; a lease is a string with the token of its
/// holder that goes by itself, and a third key says that somebody waits for it: where nobody does, nobody is
/// told. What concerns these is done by scripts, which Redis runs one at a time. They are sent as they are, so
/// that a server that was restarted knows them. A mark is a string with a time, which is kept for 90 days.
package final class RedisLeaseStore: LeaseStore {
    private let client: RedisClient
    private let prefix: String
    private let listeners = Listeners()
    private let logs: [Topic: MessageLog]
    private let subscription: RedisSubscription

    /// - Parameters:
    ///   - prefix: Of all keys and channels.
    ///   - heard: The last message of a topic that was heard before, if any was.
    ///   - onPause: Told why the server is let alone, once for each time that it was good before.
    ///   - onMessage: Told what any node says, this one too, and what was said before it was there.
    package init(
        _ settings: RedisSettings, prefix: String, after heard: [Topic: MessagePlace] = [:],
        time: TimeSource = .system, onPause: @escaping @Sendable (EngineError) -> Void = { _ in },
        onMessage: @escaping @Sendable (Topic, ToldMessage) -> Void
    ) {
        let client = RedisClient(settings, time: time) { onPause(EngineError("\($0)")) }
        client.connect()
        self.client = client
        var logs: [Topic: MessageLog] = [:]
        for topic in Topic.allCases {
            logs[topic] = MessageLog(
                client, key: "\(prefix):\(topic.rawValue)", length: topic.length,
                after: heard[topic], time: time
            ) { onMessage(topic, $0) }
        }
        self.logs = logs
        self.prefix = prefix
        let (news, tidings) = ("\(prefix):news", "\(prefix):tidings")
        subscription = RedisSubscription(
            settings, channels: [news, tidings], time: time,
            onConnection: { [listeners, logs] in
                listeners.wakeAll()
                for log in logs.values { log.readOn() }
            },
            onMessage: { [listeners, logs] channel, content in
                if channel == news {
                    listeners.wake(String(buffer: content))
                } else {
                    Topic(rawValue: String(buffer: content)).flatMap { logs[$0] }?.readOn()
                }
            })
    }

    package var breakerState: CircuitBreaker.State { client.breakerState }

    package func record(
        _ name: String, marks: [String] = []
    ) async throws(EngineError) -> Marked<SharedRecord?> {
        let reply = try await send(["HMGET", recordKey(name), "g", "c"], marks)
        return Marked(Self.record(reply.value), mark: reply.mark)
    }

    package func acquire(
        _ name: String, token: String, for duration: Duration, after generation: Int64,
        marks: [String] = []
    ) async throws(EngineError) -> Marked<Acquisition> {
        let arguments = Self.texts(token, "\(duration.milliseconds)", "\(generation)")
        let reply = try await send(running(Self.acquiring, name, arguments), marks)
        guard let acquisition = Self.acquisition(reply.value) else {
            throw EngineError("an answer that is none")
        }
        return Marked(acquisition, mark: reply.mark)
    }

    package func renew(
        _ name: String, token: String, for duration: Duration
    ) async throws(EngineError) -> Bool {
        let arguments = Self.texts(token, "\(duration.milliseconds)")
        return try await run(Self.renewing, name, arguments).integer == 1
    }

    package func release(_ name: String, token: String) async throws(EngineError) {
        _ = try await run(Self.releasing, name, Self.texts(token, "\(prefix):news", name))
    }

    package func publish(
        _ record: SharedRecord, as name: String, token: String, lifetime: Duration
    ) async throws(EngineError) -> Bool {
        let head = Self.texts(token, "\(record.generation)")
        let tail = Self.texts("\(max(1, lifetime.milliseconds))", "\(prefix):news", name)
        let reply = try await run(Self.publishing, name, head + [record.content] + tail)
        return reply.integer == 1
    }

    package func amend(
        _ record: SharedRecord, of name: String, lifetime: Duration
    ) async throws(EngineError) -> Bool {
        let (head, tail) = ("\(record.generation)", "\(max(1, lifetime.milliseconds))")
        let reply = try await run(
            Self.amending, name, Self.texts(head) + [record.content] + Self.texts(tail))
        return reply.integer == 1
    }

    package func forget(
        _ names: [String], marking marks: [String] = [], telling message: ByteBuffer
    ) async throws(EngineError) {
        // First, so that what others find when they have been told is compared with them.
        var commands: [RESPCommand] = marks.map {
            ["EVAL", Self.marking, "1", markKey($0), "\(Self.markLifetime.milliseconds)"]
        }
        commands += names.prefix(Self.batch).map(removing)
        _ = try await send(commands + telling(message, of: .forgotten))
        // A few at a time, each with a time limit of its own. By the marks they are too old already: where one
        // of these fails, the others go by themselves.
        var others = names.dropFirst(Self.batch)
        while !others.isEmpty, (try? await send(others.prefix(Self.batch).map(removing))) != nil {
            others = others.dropFirst(Self.batch)
        }
    }

    /// Names that are removed at a time.
    private static let batch = 500

    private func removing(_ name: String) -> RESPCommand {
        ["DEL", leaseKey(name), recordKey(name)]
    }

    package func tell(_ message: ByteBuffer, of topic: Topic) async throws(EngineError) {
        _ = try await send(telling(message, of: topic))
    }

    package func news(of name: String) -> News { listeners.news(of: name) }

    package var hearsNews: Bool { subscription.isConnected.value }

    private static func texts(_ texts: String...) -> [ByteBuffer] {
        texts.map { ByteBuffer(string: $0) }
    }

    /// All three have the name in braces, so that a cluster of Redis keeps them together.
    private func leaseKey(_ name: String) -> String { "\(prefix):lease:{\(name)}" }
    private func recordKey(_ name: String) -> String { "\(prefix):record:{\(name)}" }
    private func waitingKey(_ name: String) -> String { "\(prefix):waiting:{\(name)}" }
    private func markKey(_ name: String) -> String { "\(prefix):mark:\(name)" }

    /// Longer than records live, and than objects in a store should.
    private static let markLifetime = Duration.seconds(90 * 86_400)

    private func telling(_ message: ByteBuffer, of topic: Topic) -> [RESPCommand] {
        let appending = logs[topic].map { [$0.appending(message)] } ?? []
        return appending + [["PUBLISH", "\(prefix):tidings", "\(topic.rawValue)"]]
    }

    private func running(
        _ script: String, _ name: String, _ arguments: [ByteBuffer]
    ) -> RESPCommand {
        var command: RESPCommand = [
            "EVAL", script, "3", leaseKey(name), recordKey(name), waitingKey(name),
        ]
        command.arguments += arguments
        return command
    }

    private func run(
        _ script: String, _ name: String, _ arguments: [ByteBuffer]
    ) async throws(EngineError) -> RESPValue {
        try await send([running(script, name, arguments)]).first ?? .null
    }

    private func send(
        _ command: RESPCommand, _ marks: [String]
    ) async throws(EngineError) -> Marked<RESPValue> {
        var reading: RESPCommand = ["MGET"]
        reading.arguments += marks.map { ByteBuffer(string: markKey($0)) }
        let replies = try await send(marks.isEmpty ? [command] : [command, reading])
        let times = replies.dropFirst().first?.array?.compactMap(\.integer)
        return Marked(replies.first ?? .null, mark: times?.max() ?? 0)
    }

    private func send(_ commands: [RESPCommand]) async throws(EngineError) -> [RESPValue] {
        do throws(RedisError) {
            return try await client.send(commands)
        } catch {
            throw EngineError("\(error)")
        }
    }

    private static func record(_ reply: RESPValue) -> SharedRecord? {
        guard let parts = reply.array, parts.count == 2, let generation = parts[0].integer,
            let content = parts[1].bytes
        else { return nil }
        return SharedRecord(generation: generation, content: content)
    }

    private static func acquisition(_ reply: RESPValue) -> Acquisition? {
        guard let parts = reply.array, parts.count == 3, let kind = parts[0].text else {
            return nil
        }
        switch kind {
        case "acquired": return .acquired(generation: parts[1].integer ?? 0)
        case "held": return .held(for: .milliseconds(max(0, parts[1].integer ?? 0)))
        default: return record(.array(Array(parts[1...]))).map { .published($0) }
        }
    }

    /// A generation is the time in microseconds or, where that has not moved on, one more than the last: it
    /// grows although records are lost. Who has to wait asks again before the word that he waits has gone.
    private static let acquiring = """
        local g = tonumber(redis.call('HGET', KEYS[2], 'g') or 0)
        if g > tonumber(ARGV[3]) then
          return {'published', string.format('%.0f', g), redis.call('HGET', KEYS[2], 'c')}
        end
        local holder = redis.call('GET', KEYS[1])
        if holder and holder ~= ARGV[1] then
          local rest = redis.call('PTTL', KEYS[1])
          redis.call('SET', KEYS[3], '1', 'PX', math.max(rest, 0) + 1000)
          return {'held', rest, 0}
        end
        redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
        local t = redis.call('TIME')
        local now = tonumber(t[1]) * 1000000 + tonumber(t[2])
        local last = math.max(g, tonumber(ARGV[3]))
        return {'acquired', string.format('%.0f', math.max(now, last + 1)), 0}
        """

    /// The time in microseconds; never earlier than it was, whatever has been done to the clock.
    private static let marking = """
        local t = redis.call('TIME')
        local now = tonumber(t[1]) * 1000000 + tonumber(t[2])
        local last = tonumber(redis.call('GET', KEYS[1]) or 0)
        redis.call('SET', KEYS[1], string.format('%.0f', math.max(now, last)), 'PX', ARGV[1])
        return 1
        """

    private static let renewing = """
        if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
        return redis.call('PEXPIRE', KEYS[1], ARGV[2])
        """

    private static let releasing = """
        if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
        redis.call('DEL', KEYS[1])
        if redis.call('DEL', KEYS[3]) == 1 then redis.call('PUBLISH', ARGV[2], ARGV[3]) end
        return 1
        """

    private static let publishing = """
        if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
        redis.call('DEL', KEYS[1])
        local g = tonumber(redis.call('HGET', KEYS[2], 'g') or 0)
        local isNewer = g < tonumber(ARGV[2])
        if isNewer then
          redis.call('HSET', KEYS[2], 'g', ARGV[2], 'c', ARGV[3])
          redis.call('PEXPIRE', KEYS[2], ARGV[4])
        end
        if redis.call('DEL', KEYS[3]) == 1 then redis.call('PUBLISH', ARGV[5], ARGV[6]) end
        return isNewer and 1 or 0
        """

    private static let amending = """
        if redis.call('HGET', KEYS[2], 'g') ~= ARGV[1] then return 0 end
        redis.call('HSET', KEYS[2], 'c', ARGV[2])
        return redis.call('PEXPIRE', KEYS[2], ARGV[3])
        """
}

extension Duration {
    fileprivate var milliseconds: Int64 { nanoseconds / 1_000_000 }
}
