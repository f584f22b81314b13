import Foundation
import Testing

@testable import HalcyonStorage

@Suite struct CacheFileNameTests {
    /// Upstream: testStringSHA256
    @Test func sha256IsThatOfTheUTF8Bytes() {
        #expect(
            CacheFileName.digest(of: "hello")
                == "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824")
        #expect(
            CacheFileName.digest(of: "")
                == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    }

    /// Upstream: testStringExt
    @Test func extIsTheExtensionOfTheKey() {
        #expect(CacheFileName.fileExtension(of: "https://host.net/image.png") == "png")
        #expect(CacheFileName.fileExtension(of: "https://host.net/image.JPG") == "JPG")
        #expect(CacheFileName.fileExtension(of: "https://host.net/a.b/c.gif") == "gif")
        #expect(CacheFileName.fileExtension(of: "https://host.net/image.png@round-corner") == "png")
        #expect(CacheFileName.fileExtension(of: "image") == nil)
        #expect(CacheFileName.fileExtension(of: "image.") == nil)
    }

    /// Upstream: testStringExtRejectsValueWithPathSeparator
    @Test func extRejectsWhatIsNoExtension() {
        #expect(CacheFileName.fileExtension(of: "https://host.net/573@300-172.jpg") == nil)
        #expect(CacheFileName.fileExtension(of: "image.jpg?v=2") == nil)
        #expect(CacheFileName.fileExtension(of: "image.abcdefghijklmnopqrstu") == nil)
        #expect(
            CacheFileName.fileExtension(of: "image.abcdefghijklmnopqrst") == "abcdefghijklmnopqrst")
    }

    @Test func plainKeysAreTheirFileNames() {
        for key in ["abc", "a b", "a%20b.png", "ü", "a.b", "100%", "a..b"] {
            #expect(CacheFileName.name(base: key, extension: nil) == key)
        }
        #expect(CacheFileName.name(base: "a", extension: "png") == "a.png")
    }

    @Test func whatCannotBeInANameIsEncoded() {
        #expect(CacheFileName.name(base: "a/b", extension: nil) == "a%2Fb")
        #expect(CacheFileName.name(base: "../etc", extension: nil) == "%2E.%2Fetc")
        #expect(CacheFileName.name(base: ".", extension: nil) == "%2E")
        #expect(CacheFileName.name(base: "..", extension: nil) == "%2E.")
        #expect(CacheFileName.name(base: "a\0b", extension: nil) == "a%00b")
        #expect(CacheFileName.name(base: "a", extension: "../x") == "a...%2Fx")
        #expect(CacheFileName.name(base: "", extension: nil) == "%25")
    }

    @Test func differentKeysHaveDifferentNames() {
        let parts = ["/", "%2F", "%252F", "%", "25", "2F", "\0", "%00", ".", "%2E", "a"]
        var keys = Set(parts + [""])
        for first in parts { for second in parts { keys.insert(first + second) } }
        for key in Array(keys) { for part in parts { keys.insert(key + part) } }
        let names = Set(keys.map { CacheFileName.name(base: $0, extension: nil) })
        #expect(names.count == keys.count)
    }

    @Test func longNamesAreDigests() {
        let long = String(repeating: "a", count: 256)
        let name = CacheFileName.name(base: long, extension: nil)
        #expect(name == CacheFileName.digest(of: long))
        #expect(CacheFileName.name(base: long, extension: "png").hasSuffix(".png"))
        #expect(CacheFileName.name(base: "a", extension: long).count == 64)
        #expect(CacheFileName.name(base: String(long.dropLast()), extension: nil).count == 255)
    }
}

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
        #expect(expiration.timeInterval == 100 && !expiration.isExpired(at: now))
        #expect(
            StorageExpiration.seconds(0).isExpired(at: now)
                && StorageExpiration.seconds(-1).isExpired(at: now))
    }

    /// Upstream: testExpirationDays
    @Test func daysHave24Hours() {
        let expiration = StorageExpiration.days(2)
        #expect(expiration.estimatedExpirationSince(now) == now.addingTimeInterval(172_800))
        #expect(expiration.timeInterval == 172_800 && !expiration.isExpired(at: now))
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
