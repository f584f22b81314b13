package import HalcyonWork
package import NIOCore

/// What is published under a name.
package struct SharedRecord: Hashable, Sendable {
    /// Grows with each record of a name.
    package let generation: Int64
    package let content: ByteBuffer

    package init(generation: Int64, content: ByteBuffer) {
        self.generation = generation
        self.content = content
    }
}

/// An answer, and the latest of the marks that were asked for with it: in microseconds of the engine's clock, as
/// generations are; 0 without any.
package struct Marked<Value: Sendable>: Sendable {
    package let value: Value
    package let mark: Int64

    package init(_ value: Value, mark: Int64) {
        self.value = value
        self.mark = mark
    }
}

/// What came of asking for a lease.
package enum Acquisition: Hashable, Sendable {
    /// It is ours; what is made under it is published as `generation`.
    case acquired(generation: Int64)
    /// It is somebody else's for so long, unless its holder prolongs it.
    case held(for: Duration)
    /// There is a record that is newer than the one which is known.
    case published(SharedRecord)
}

/// An engine could not do what was asked, for whatever reason.
package struct EngineError: Error, Hashable, Sendable {
    package let reason: String

    package init(_ reason: String) {
        self.reason = reason
    }
}

/// What nodes tell each other: records and leases by names, and that something has to be forgotten.
///
/// A mark is the time of something that records which were begun before it do not survive: a record is of no
/// use when its generation is not greater. Who reads it names the marks that count, and compares.
///
/// Each call takes a limited time, a few hundredths of a second, and throws when the engine cannot answer.
package protocol LeaseStore: Sendable {
    /// The record of a name; in the same round trip, the latest of some marks.
    func record(
        _ name: String, marks: [String]
    ) async throws(EngineError) -> Marked<SharedRecord?>

    /// Takes the lease of a name unless somebody has it, or there is a record newer than `generation`. Marks are
    /// read afterwards, in the same round trip.
    ///
    /// - Parameters:
    ///   - token: A random text that nobody else has. Asking again with the same is no second lease.
    ///   - duration: When the lease ends by itself.
    func acquire(
        _ name: String, token: String, for duration: Duration, after generation: Int64,
        marks: [String]
    ) async throws(EngineError) -> Marked<Acquisition>

    /// Has a lease last for `duration` from now on; `false` when it is not held with this token.
    func renew(
        _ name: String, token: String, for duration: Duration
    ) async throws(EngineError) -> Bool

    func release(_ name: String, token: String) async throws(EngineError)

    /// Publishes a record and gives the lease back. Does neither, and says so, when the lease is not held
    /// with this token, or when there is a record of this or a later generation.
    ///
    /// - Parameter lifetime: When the record goes by itself.
    func publish(
        _ record: SharedRecord, as name: String, token: String, lifetime: Duration
    ) async throws(EngineError) -> Bool

    /// Puts other content into a record that is still of this generation, and has it last for `lifetime` from now on;
    /// `false` when it is none, or of another one. As its generation stays, so does what marks say of it.
    func amend(
        _ record: SharedRecord, of name: String, lifetime: Duration
    ) async throws(EngineError) -> Bool

    /// Sets marks to the present time, removes records and their leases, so that what is being made of them now
    /// is not published, and tells all nodes.
    ///
    /// - Parameters:
    ///   - marks: Concern all that is meant, also records whose names are not known here.
    ///   - message: What they are told, of the topic ``Topic/forgotten``.
    func forget(
        _ names: [String], marking marks: [String], telling message: ByteBuffer
    ) async throws(EngineError)

    /// Tells all nodes something: those that are there within a second, others when they are back.
    func tell(_ message: ByteBuffer, of topic: Topic) async throws(EngineError)

    /// Given when something has happened to the lease or the record of `name` after this call. It may not
    /// be given at all.
    func news(of name: String) -> News

    /// Whether news come in at the moment.
    var hearsNews: Bool { get }

    /// Whether the engine is asked at the moment.
    var breakerState: CircuitBreaker.State { get }
}

/// What nodes tell all others about.
package enum Topic: String, Hashable, Sendable, CaseIterable {
    /// What is to be forgotten.
    case forgotten
    /// Who wants to be left alone.
    case pauses

    /// How many messages are kept for nodes that are away.
    var length: Int {
        switch self {
        case .forgotten: 10_000
        case .pauses: 1_000
        }
    }
}

/// What a node has told all others.
package struct ToldMessage: Hashable, Sendable {
    package let place: MessagePlace
    package let content: ByteBuffer
}

/// Where a message is among those of its topic: a time of the engine's clock and a number.
package struct MessagePlace: Hashable, Sendable {
    package let text: String

    /// `nil` for what is none.
    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "-")
        guard parts.count == 2, parts.allSatisfy({ UInt64($0) != nil }) else { return nil }
        self.text = String(text)
    }
}

/// Word of a name, for one who waits.
package struct News: Sendable {
    package let arrival: OneShot<Void>
    /// Has to be called when nobody waits any longer.
    package let end: @Sendable () -> Void

    package init(arrival: OneShot<Void>, end: @escaping @Sendable () -> Void) {
        self.arrival = arrival
        self.end = end
    }
}
