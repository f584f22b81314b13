public import Foundation

/// Whether and how the answers of servers say how long a picture is good for (RFC 9111).
///
/// A program that loads for several users must keep them apart: by a ``partition`` each, by caches
/// or keys of their own. In the private role an answer to one user is an answer to all.
///
/// Times are in seconds; negative ones and those that are not finite count as 0.
public struct HTTPCaching: Sendable, Hashable {
    /// Whom the cache is for (RFC 9111, section 1).
    public enum Role: Sendable, Hashable {
        /// One user.
        case `private`
        /// Several users, as in a server.
        case shared
    }

    /// When the server is asked.
    public enum Validation: Sendable, Hashable {
        case whenStale
        /// Even while fresh, like a browser's reload; not for a fresh response that says it is
        /// `immutable` (RFC 8246).
        case always
    }

    /// When a stale response may be used.
    public enum StaleUse: Sendable, Hashable {
        case never
        /// When the response says so (RFC 5861).
        case asAllowed
        /// Also when the server does not allow it, for this long after it became stale.
        case upTo(TimeInterval)
    }

    /// Which errors are remembered.
    public enum Negative: Sendable, Hashable {
        case off
        /// Answers with these statuses, for the time they say themselves, else for `lifetime`;
        /// never longer than `limit`.
        case on(
            statuses: Set<Int> = [404, 410], lifetime: TimeInterval = 60,
            limit: TimeInterval = 300)
    }

    /// Kingfisher's rule: a file is good until its `StorageExpiration`.
    public static let off = HTTPCaching(isOn: false)

    /// The rules for one user.
    public static let on = HTTPCaching(isOn: true)

    /// The rules for a server: answers meant for one user are not kept, and errors are
    /// remembered for a while.
    public static let shared: HTTPCaching = {
        var caching = HTTPCaching.on
        caching.role = .shared
        caching.heuristicLimit = 86_400
        caching.negative = .on()
        return caching
    }()

    public var isOn: Bool { rules.values.isOn }

    public var role: Role {
        get { rules.values.role }
        set { change { $0.role = newValue } }
    }

    public var validation: Validation {
        get { rules.values.validation }
        set { change { $0.validation = newValue } }
    }

    /// Use of a stale response while the server is asked in the background.
    public var staleWhileRevalidate: StaleUse {
        get { rules.values.staleWhileRevalidate }
        set { change { $0.staleWhileRevalidate = newValue } }
    }

    /// Use of a stale response instead of an error.
    public var staleIfError: StaleUse {
        get { rules.values.staleIfError }
        set { change { $0.staleIfError = newValue } }
    }

    /// Use of a stale response when the server cannot be reached and nothing forbids it.
    public var staleWhenUnreachable: Bool {
        get { rules.values.staleWhenUnreachable }
        set { change { $0.staleWhenUnreachable = newValue } }
    }

    /// The lifetime of a response that states none, as a fraction (0 to 1) of the time since its
    /// content was last modified. 0 turns guessing off. 0.1 by default.
    public var heuristicFraction: Double {
        get { rules.values.heuristicFraction }
        set { change { $0.heuristicFraction = newValue } }
    }

    /// The longest lifetime that is guessed. 7 days; 1 day in ``shared``.
    public var heuristicLimit: TimeInterval {
        get { rules.values.heuristicLimit }
        set { change { $0.heuristicLimit = newValue } }
    }

    /// The lifetime of a `200` that says nothing about freshness at all. 0 by default.
    public var fallbackLifetime: TimeInterval {
        get { rules.values.fallbackLifetime }
        set { change { $0.fallbackLifetime = newValue } }
    }

    /// Takes the place of everything that responses say about their freshness, for operators
    /// who declare their sources public. Validators are used all the same.
    public var fixedLifetime: TimeInterval? {
        get { rules.values.fixedLifetime }
        set { change { $0.fixedLifetime = newValue } }
    }

    public var negative: Negative {
        get { rules.values.negative }
        set { change { $0.negative = newValue } }
    }

    /// Fields that take the place of `Cache-Control` (RFC 9213), such as `CDN-Cache-Control`;
    /// the first of them that is present counts. Looked at in the shared role only.
    public var targetedFields: [String] {
        get { rules.values.targetedFields }
        set { change { $0.targetedFields = newValue } }
    }

    /// Text that keeps the responses of one user apart from those of others.
    public var partition: String? {
        get { rules.values.partition }
        set { change { $0.partition = newValue } }
    }

    /// Apart from the structure, so that handing it on and comparing it with itself cost nothing: both
    /// are done for each image that is found in memory.
    private var rules: Rules

    private init(isOn: Bool) {
        rules = Rules(Values(isOn: isOn))
    }

    private mutating func change(_ body: (inout Values) -> Void) {
        var values = rules.values
        body(&values)
        if values != rules.values { rules = Rules(values) }
    }

    private final class Rules: Sendable, Hashable {
        let values: Values

        init(_ values: Values) { self.values = values }

        static func == (one: Rules, other: Rules) -> Bool {
            one === other || one.values == other.values
        }

        func hash(into hasher: inout Hasher) { values.hash(into: &hasher) }
    }

    private struct Values: Hashable, Sendable {
        let isOn: Bool
        var role = Role.private
        var validation = Validation.whenStale
        var staleWhileRevalidate = StaleUse.asAllowed
        var staleIfError = StaleUse.asAllowed
        var staleWhenUnreachable = true
        var heuristicFraction = 0.1
        var heuristicLimit: TimeInterval = 7 * 86_400
        var fallbackLifetime: TimeInterval = 0
        var fixedLifetime: TimeInterval?
        var negative = Negative.off
        var targetedFields: [String] = []
        var partition: String?
    }
}
