import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon
@testable import HalcyonStorage

@Suite struct MemoryStorageTests {
    let clock = TestClock()
    let storage: MemoryStorage.Backend<Weight>

    init() {
        var config = MemoryStorage.Config(totalCostLimit: 3)
        config.expiration = .seconds(100)
        storage = MemoryStorage.Backend(config: config, now: { [clock] in clock.now })
    }

    private func store(
        _ id: Int, forKey key: String? = nil, cost: Int = 1, expiration: StorageExpiration? = nil
    ) {
        storage.store(
            value: Weight(id: id, cacheCost: cost), forKey: key ?? "\(id)", expiration: expiration)
    }

    private func isResident(_ key: String) -> Bool { storage.objects.entry(forKey: key) != nil }

    @Test func defaultsAreKingfishers() {
        let config = MemoryStorage.Config(totalCostLimit: 7)
        #expect(config.totalCostLimit == 7)
        #expect(config.countLimit == .max)
        #expect(config.cleanInterval == 120)
        #expect(config.expiration.timeInterval == 300)
        #expect(!config.keepWhenEnteringBackground)
    }

    /// Upstream: testConfigSettingStorage, testMaxMemorySize
    @Test func changingTheConfigAppliesItsLimits() {
        for id in 1...3 { store(id) }
        storage.config.countLimit = 2
        #expect(!storage.isCached(forKey: "1"))
        #expect(storage.isCached(forKey: "2"))
        storage.config = MemoryStorage.Config(totalCostLimit: 1)
        #expect(storage.totalCacheCost() == 1)
        #expect(storage.isCached(forKey: "3"))
        #expect(storage.config.countLimit == .max)
    }

    /// Upstream: testStoreAndGetValue, testStoreValueOverwriting, testRemoveValue,
    /// testRemoveAllValues, testTotalCacheCost, testTotalCacheCostExcludesEvictedValues
    @Test func valuesAreStoredReplacedReadCountedAndRemoved() {
        #expect(!storage.isCached(forKey: "1"))
        #expect(storage.value(forKey: "1") == nil)
        store(1)
        #expect(storage.isCached(forKey: "1"))
        #expect(storage.value(forKey: "1") == Weight(id: 1))
        store(2, forKey: "1", cost: 2)
        #expect(storage.value(forKey: "1")?.id == 2)
        #expect(storage.totalCacheCost() == 2)
        store(3)
        #expect(storage.totalCacheCost() == 3)
        store(4)
        #expect(storage.totalCacheCost() == 2)
        #expect(!storage.isCached(forKey: "1"), "evicted for the limit")
        storage.remove(forKey: "3")
        #expect(!storage.isCached(forKey: "3"))
        #expect(storage.isCached(forKey: "4"))
        #expect(storage.totalCacheCost() == 1)
        storage.removeAll()
        #expect(!storage.isCached(forKey: "4"))
        #expect(storage.totalCacheCost() == 0)
    }

    /// Upstream: testStoreWithExpiration, testTotalCacheCostIncludesExpiredValues,
    /// testRemoveExpired (MemoryStorageTests)
    @Test func anExpiredValueIsAMissButCountsUntilItIsRemoved() {
        store(1, expiration: .seconds(1))
        store(2)
        clock.advance(1)
        #expect(!storage.isCached(forKey: "1"))
        #expect(storage.value(forKey: "1") == nil)
        #expect(isResident("1"))
        #expect(storage.isCached(forKey: "2"))
        #expect(storage.totalCacheCost() == 2)
        storage.removeExpired()
        #expect(!isResident("1"))
        #expect(storage.totalCacheCost() == 1)
    }

    /// Upstream: testStoreWithConfigExpiration
    @Test func theConfigsExpirationIsTheDefault() {
        storage.config.expiration = .seconds(1)
        store(1)
        #expect(storage.isCached(forKey: "1"))
        clock.advance(1)
        #expect(!storage.isCached(forKey: "1"))
    }

    @Test func storingExpiredValuesDoesNothing() {
        store(1)
        store(2, forKey: "1", expiration: .expired)
        store(2, expiration: .seconds(0))
        #expect(storage.value(forKey: "1")?.id == 1)
        #expect(storage.objects.entry(forKey: "2") == nil)
    }

    /// Upstream: testStoreWithExpirationExtending, testStoreWithExpirationNotExtending
    @Test(arguments: [(ExpirationExtending.none, 0.0), (.expirationTime(.seconds(5)), 4.0)])
    func readingCanLeaveOrMoveTheExpiration(
        extending: ExpirationExtending, later: TimeInterval
    ) throws {
        store(1, expiration: .seconds(2))
        let before = try #require(storage.objects.entry(forKey: "1")).estimatedExpiration
        clock.advance(1)
        _ = storage.value(forKey: "1", extendingExpiration: extending)
        let after = try #require(storage.objects.entry(forKey: "1")).estimatedExpiration
        #expect(after.timeIntervalSince(before) == later)
    }

    /// Upstream: testExtendExpirationByAccessing (MemoryStorageTests), testStorageObject
    @Test func readingExtendsByTheOwnExpirationAndProbingDoesNot() {
        store(1, expiration: .seconds(0.5))
        clock.advance(0.3)
        #expect(storage.value(forKey: "1") != nil)
        clock.advance(0.3)
        #expect(storage.isCached(forKey: "1"))
        clock.advance(0.4)
        #expect(!storage.isCached(forKey: "1"))
    }

    /// Upstream: testAutoCleanExpiredMemory
    @Test func theTimerRemovesExpiredValues() async throws {
        let asked = Recorder<Date>()
        let storage = MemoryStorage.Backend<Weight>(
            config: MemoryStorage.Config(totalCostLimit: 3, cleanInterval: 0.01),
            now: { [clock] in
                let now = clock.now
                asked.record(now)
                return now
            })
        storage.store(value: Weight(id: 1), forKey: "1", expiration: .seconds(1))
        clock.advance(2)
        let later = clock.now
        // Only the timer asks for the time now. When it does so again, it has done its work once.
        await asked.wait { $0.count { $0 == later } >= 2 }
        #expect(storage.objects.entry(forKey: "1") == nil)
        #expect(storage.totalCacheCost() == 0)
    }

    @Test func theTimerDoesNotKeepTheStorage() {
        weak var released: MemoryStorage.Backend<Weight>?
        do {
            let storage = MemoryStorage.Backend<Weight>(
                config: MemoryStorage.Config(totalCostLimit: 3, cleanInterval: 1000))
            storage.config.cleanInterval = 2000
            released = storage
        }
        #expect(released == nil)
    }

    @Test func limitsOfZeroAreNone() {
        storage.config.totalCostLimit = 0
        storage.config.countLimit = 0
        for id in 1...50 { store(id) }
        #expect(storage.totalCacheCost() == 50)
    }

    /// Defect: D-20
    @Test func extendingNeverBringsAReplacedValueBack() {
        store(0, forKey: "1")
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            for step in 1...2000 {
                if thread == 0 {
                    storage.store(value: Weight(id: step), forKey: "1")
                } else {
                    _ = storage.value(
                        forKey: "1", extendingExpiration: .expirationTime(.seconds(50)))
                }
            }
        }
        #expect(storage.value(forKey: "1")?.id == 2000)
        let end = storage.objects.entry(forKey: "1")?.estimatedExpiration
        #expect(end == clock.now.addingTimeInterval(100))
        storage.remove(forKey: "1")
        #expect(storage.objects.entry(forKey: "1") == nil)
    }

    /// A value that tells of its end.
    private final class Relic: CacheCostCalculable, Sendable {
        let id: Int
        let cacheCost = 1
        private let onRelease: @Sendable (Int) -> Void

        init(id: Int, onRelease: @escaping @Sendable (Int) -> Void) {
            self.id = id
            self.onRelease = onRelease
        }

        deinit { onRelease(id) }
    }

    @Test func eachValueIsReleasedOnceAndMayUseTheStorageThen() {
        let storage = MemoryStorage.Backend<Relic>(
            config: MemoryStorage.Config(totalCostLimit: 4), now: { [clock] in clock.now })
        let released = Recorder<Int>()
        func store(_ id: Int, forKey key: String, expiration: StorageExpiration? = nil) {
            let relic = Relic(id: id) { [weak storage] id in
                // Both would wait for ever if they were called under a lock of the storage.
                _ = storage?.isCached(forKey: key)
                storage?.remove(forKey: "none of them")
                released.record(id)
            }
            storage.store(value: relic, forKey: key, expiration: expiration)
        }

        for id in 1...4 { store(id, forKey: "\(id)") }
        store(5, forKey: "2")
        #expect(released.events == [2])
        store(6, forKey: "6")
        #expect(released.events == [2, 1])
        storage.remove(forKey: "3")
        #expect(released.events == [2, 1, 3])
        store(7, forKey: "7", expiration: .seconds(1))
        clock.advance(2)
        storage.removeExpired()
        #expect(released.events == [2, 1, 3, 7])
        storage.config.totalCostLimit = 2
        #expect(released.events == [2, 1, 3, 7, 4])
        storage.removeAll()
        #expect(released.events.sorted() == Array(1...7))
    }
}
