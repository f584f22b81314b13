public import Foundation

/// How long a cached value is valid.
public enum StorageExpiration: Hashable, Sendable {
    /// For good.
    case never
    /// Seconds after it was stored.
    case seconds(TimeInterval)
    /// Days of 24 hours after it was stored.
    case days(Int)
    /// Until a date.
    case date(Date)
    /// Expired already: a value with this expiration is not stored.
    case expired

    /// When a value stored at `date` expires.
    func estimatedExpirationSince(_ date: Date) -> Date {
        switch self {
        case .never: .distantFuture
        case .seconds(let seconds): date.addingTimeInterval(seconds)
        case .days(let days): date.addingTimeInterval(StorageExpiration.seconds(inDays: days))
        case .date(let end): end
        case .expired: .distantPast
        }
    }

    /// Seconds that a value stored at `date` lives; not positive when it is expired already.
    func timeInterval(since date: Date) -> TimeInterval {
        switch self {
        case .never: .infinity
        case .seconds(let seconds): seconds
        case .days(let days): StorageExpiration.seconds(inDays: days)
        case .date(let end): end.timeIntervalSince(date)
        case .expired: -.infinity
        }
    }

    /// Seconds that a value stored now lives.
    package var timeInterval: TimeInterval { timeInterval(since: Date()) }

    /// Whether a value stored at `date` is expired already.
    func isExpired(at date: Date) -> Bool { timeInterval(since: date) <= 0 }

    /// Whether a value stored now is expired already.
    var isExpired: Bool { isExpired(at: Date()) }

    private static func seconds(inDays days: Int) -> TimeInterval {
        TimeInterval(days) * 86_400
    }
}

/// What an access does to the expiration of a cached value.
public enum ExpirationExtending: Sendable {
    /// Nothing.
    case none
    /// The value gets its whole time to live once more, counted from now.
    case cacheTime
    /// The value lives on from now as given.
    case expirationTime(_ expiration: StorageExpiration)
}

extension Date {
    /// Whether this date is `reference` or before it.
    func isPast(at reference: Date) -> Bool {
        timeIntervalSince(reference) <= 0
    }
}
