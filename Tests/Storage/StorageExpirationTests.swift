import Foundation
import Testing

@testable import HalcyonStorage

@Suite struct StorageExpirationTests {
    let now = Date(timeIntervalSince1970: 1_700_000_000)

    /// Upstream: testExpirationNever
    @Test func neverIsInTheDistantFuture() {
        #expect(StorageExpiration.never.estimatedExpirationSince(now) == .distantFuture)
        #expect(StorageExpiration.never.timeInterval == .infinity)
        #expect(!StorageExpiration.never.isExpired(at: now))
    }

    /// Upstream: testExpirationSeconds
    @Test func secondsCountFromTheReference() {
        let expiration = StorageExpiration.seconds(100)
        #expect(expiration.estimatedExpirationSince(now) == now.addingTimeInterval(100))
        #expect(expiration.timeInterval == 100)
        #expect(!expiration.isExpired(at: now))
        #expect(StorageExpiration.seconds(0).isExpired(at: now))
        #expect(StorageExpiration.seconds(-1).isExpired(at: now))
    }

    /// Upstream: testExpirationDays
    @Test func daysHave24Hours() {
        let expiration = StorageExpiration.days(2)
        #expect(expiration.estimatedExpirationSince(now) == now.addingTimeInterval(172_800))
        #expect(expiration.timeInterval == 172_800)
        #expect(!expiration.isExpired(at: now))
        #expect(StorageExpiration.days(.max).timeInterval > 1e20)
    }

    /// Upstream: testExpirationDate
    @Test func aDateIsItself() {
        let expiration = StorageExpiration.date(now)
        #expect(expiration.estimatedExpirationSince(.distantPast) == now)
        #expect(expiration.timeInterval(since: now.addingTimeInterval(-30)) == 30)
        #expect(!expiration.isExpired(at: now.addingTimeInterval(-1)))
        #expect(expiration.isExpired(at: now), "equality is expired")
    }

    /// Upstream: testAlreadyExpired
    @Test func expiredIsInTheDistantPast() {
        #expect(StorageExpiration.expired.isExpired(at: now))
        #expect(StorageExpiration.expired.estimatedExpirationSince(now) == .distantPast)
        #expect(StorageExpiration.expired.timeInterval == -.infinity)
    }
}
