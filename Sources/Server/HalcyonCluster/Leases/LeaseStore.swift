package import HalcyonWork
package import NIOCore

package struct SharedRecord: Hashable, Sendable {
    /// The generation, which grows with each record of a name.
    package let generation: Int64
    package let content: ByteBuffer

    package init(generation: Int64, content: ByteBuffer) {
        self.generation = generation
        self.content = content
    }
}

/// A reply with the latest of the requested marks: in microseconds of the engine's clock, like
/// generations; 0 without any.
package struct Marked<Value: Sendable>: Sendable {
    package let value: Value
    package let mark: Int64

    package init(_ value: Value, mark: Int64) {
        self.value = value
        self.mark = mark
    }
}

package enum Acquisition: Hashable, Sendable {
    /// The lease is ours; its result is published as `generation`.
    case acquired(generation: Int64)
    /// Another node holds the lease for this time, unless it renews the lease.
    case held(for: Duration)
    /// There is a record newer than the known one.
    case published(SharedRecord)
}

package struct EngineError: Error, Hashable, Sendable {
    package let reason: String

    package init(_ reason: String) { self.reason = reason }
}

/// The state shared by nodes: records and leases by name, marks, and messages.
///
/// A mark is an invalidation time: records begun before it are void, that is, those whose
/// generation is not greater. Readers name the relevant marks and compare.
///
/// Each call takes some hundredths of a second, and throws when the engine does not reply.
package protocol LeaseStore: Sendable {
    /// Reads the record of a name and, in the same round trip, the latest of some marks.
    func record(_ name: String, marks: [String]) async throws(EngineError) -> Marked<SharedRecord?>

    /// Acquires the lease of a name unless it is held, or there is a record newer than
    /// `generation`. Marks are read afterwards, in the same round trip.
    ///
    /// - Parameters:
    ///   - token: A unique random text. A repeated call with the same token is no second lease.
    func acquire(
        _ name: String, token: String, for duration: Duration, after generation: Int64,
        marks: [String]
    ) async throws(EngineError) -> Marked<Acquisition>

    /// Extends a lease to `duration` from now on; `false` when it is not held with this token.
    func renew(
        _ name: String, token: String, for duration: Duration
    ) async throws(EngineError) -> Bool

    func release(_ name: String, token: String) async throws(EngineError)

    /// Publishes a record and releases the lease. Does neither, and returns `false`, when the lease
    /// is not held with this token, or when there is a record of this or a later generation.
    func publish(
        _ record: SharedRecord, as name: String, token: String, lifetime: Duration
    ) async throws(EngineError) -> Bool

    /// Replaces the content of a record that is still of this generation, with the lifetime
    /// `lifetime` from now on; `false` when it is missing or of another generation. As the
    /// generation stays, marks apply as before.
    func amend(
        _ record: SharedRecord, of name: String, lifetime: Duration
    ) async throws(EngineError) -> Bool

    /// Sets marks to the present time, removes records and their leases, so that pending work on
    /// them is not published, and tells all nodes.
    ///
    /// - Parameters:
    ///   - marks: Cover everything to be invalidated, also records whose names are unknown here.
    ///   - message: The message to the nodes, of the topic ``Topic/forgotten``.
    func forget(
        _ names: [String], marking marks: [String], telling message: ByteBuffer
    ) async throws(EngineError)

    /// Sends a message to all nodes: to connected ones within a second, to others when they return.
    func tell(_ message: ByteBuffer, of topic: Topic) async throws(EngineError)

    /// Given when the lease or the record of `name` changes after this call, if at all.
    func news(of name: String) -> News

    var hearsNews: Bool { get }

    var breakerState: CircuitBreaker.State { get }
}

package enum Topic: String, Hashable, Sendable, CaseIterable {
    case forgotten
    case pauses

    /// The number of messages kept for disconnected nodes.
    var length: Int {
        switch self {
        case .forgotten: 10_000
        case .pauses: 1_000
        }
    }
}

package struct ToldMessage: Hashable, Sendable {
    package let place: MessagePlace
    package let content: ByteBuffer
}

/// The position of a message in its topic: a time of the engine's clock and a number.
package struct MessagePlace: Hashable, Sendable {
    package let text: String

    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "-")
        guard parts.count == 2, parts.allSatisfy({ UInt64($0) != nil }) else { return nil }
        self.text = String(text)
    }
}

/// A notification about a name, for one waiter.
package struct News: Sendable {
    package let arrival: OneShot<Void>
    /// Has to be called when the wait is over.
    package let end: @Sendable () -> Void
}
