public import Foundation

/// The lifetime of a cached value.
public enum StorageExpiration: Hashable, Sendable {
    /// The value never expires.
    case never
    /// Seconds after it was stored.
    case seconds(TimeInterval)
    /// Days of 24 hours after it was stored.
    case days(Int)
    /// Until a date.
    case date(Date)
    /// Expired already: a value with this expiration is not stored.
    case expired

    func estimatedExpirationSince(_ date: Date) -> Date {
        switch self {
        case .never: .distantFuture
        case .seconds(let seconds): date.addingTimeInterval(seconds)
        case .days(let days): date.addingTimeInterval(StorageExpiration.seconds(inDays: days))
        case .date(let end): end
        case .expired: .distantPast
        }
    }

    /// The lifetime in seconds of a value stored at `date`; not positive when it has expired.
    func timeInterval(since date: Date) -> TimeInterval {
        switch self {
        case .never: .infinity
        case .seconds(let seconds): seconds
        case .days(let days): StorageExpiration.seconds(inDays: days)
        case .date(let end): end.timeIntervalSince(date)
        case .expired: -.infinity
        }
    }

    package var timeInterval: TimeInterval { timeInterval(since: Date()) }

    func isExpired(at date: Date) -> Bool { timeInterval(since: date) <= 0 }

    private static func seconds(inDays days: Int) -> TimeInterval {
        TimeInterval(days) * 86_400
    }
}

/// The effect of an access on the expiration of a cached value.
public enum ExpirationExtending: Sendable {
    /// The expiration is unchanged.
    case none
    /// The value's lifetime starts anew, counted from now.
    case cacheTime
    /// The value gets the given expiration, counted from now.
    case expirationTime(_ expiration: StorageExpiration)
}
