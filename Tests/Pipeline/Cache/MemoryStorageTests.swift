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

    @Test func defaultsAreKingfishers() {
        let config = MemoryStorage.Config(totalCostLimit: 7)
        #expect(config.totalCostLimit == 7)
        #expect(config.countLimit == .max)
        #expect(config.cleanInterval == 120)
        #expect(config.expiration.timeInterval == 300)
        #expect(!config.keepWhenEnteringBackground)
    }

    /// Upstream: testConfigSettingStorage
    @Test func changingTheConfigAppliesItsLimits() {
        for id in 1...3 { storage.store(value: Weight(id: id), forKey: "\(id)") }
        storage.config.countLimit = 2
        #expect(!storage.isCached(forKey: "1"))
        #expect(storage.isCached(forKey: "2"))
        storage.config = MemoryStorage.Config(totalCostLimit: 1)
        #expect(storage.totalCacheCost() == 1)
        #expect(storage.isCached(forKey: "3"))
        #expect(storage.config.countLimit == .max)
    }

    /// Upstream: testStoreAndGetValue
    @Test func aStoredValueIsCachedAndReadable() {
        #expect(!storage.isCached(forKey: "1"))
        #expect(storage.value(forKey: "1") == nil)
        storage.store(value: Weight(id: 1), forKey: "1")
        #expect(storage.isCached(forKey: "1"))
        #expect(storage.value(forKey: "1") == Weight(id: 1))
    }

    /// Upstream: testStoreValueOverwriting
    @Test func aSecondStoreReplacesTheFirst() {
        storage.store(value: Weight(id: 1), forKey: "1")
        storage.store(value: Weight(id: 2, cacheCost: 2), forKey: "1")
        #expect(storage.value(forKey: "1")?.id == 2)
        #expect(storage.totalCacheCost() == 2)
    }

    /// Upstream: testRemoveValue, testRemoveAllValues
    @Test func removedValuesAreNoLongerCached() {
        storage.store(value: Weight(id: 1), forKey: "1")
        storage.store(value: Weight(id: 2), forKey: "2")
        storage.remove(forKey: "1")
        #expect(!storage.isCached(forKey: "1"))
        #expect(storage.isCached(forKey: "2"))
        storage.removeAll()
        #expect(!storage.isCached(forKey: "2"))
    }

    /// Upstream: testTotalCacheCost
    @Test func theTotalCostIsTheSumOfTheResidentOnes() {
        storage.store(value: Weight(id: 1), forKey: "1")
        storage.store(value: Weight(id: 2, cacheCost: 2), forKey: "2")
        #expect(storage.totalCacheCost() == 3)
        storage.remove(forKey: "1")
        #expect(storage.totalCacheCost() == 2)
        storage.removeAll()
        #expect(storage.totalCacheCost() == 0)
    }

    /// Upstream: testTotalCacheCostIncludesExpiredValues, testRemoveExpired (MemoryStorageTests)
    @Test func expiredValuesCountUntilTheyAreRemoved() {
        storage.store(value: Weight(id: 1), forKey: "1", expiration: .seconds(1))
        clock.advance(2)
        #expect(!storage.isCached(forKey: "1"))
        #expect(storage.totalCacheCost() == 1)
        storage.removeExpired()
        #expect(storage.totalCacheCost() == 0)
    }

    /// Upstream: testTotalCacheCostExcludesEvictedValues
    @Test func evictedValuesDoNotCount() {
        for id in 1...4 { storage.store(value: Weight(id: id), forKey: "\(id)") }
        #expect(storage.totalCacheCost() == 3)
        #expect(!storage.isCached(forKey: "1"))
    }

    /// Upstream: testStoreWithExpiration
    @Test func anExpiredValueIsAMissButStillResident() {
        storage.store(value: Weight(id: 1), forKey: "1", expiration: .seconds(1))
        storage.store(value: Weight(id: 2), forKey: "2")
        clock.advance(1)
        #expect(!storage.isCached(forKey: "1"))
        #expect(storage.value(forKey: "1") == nil)
        #expect(storage.objects.entry(forKey: "1") != nil)
        #expect(storage.isCached(forKey: "2"))
    }

    /// Upstream: testStoreWithConfigExpiration
    @Test func theConfigsExpirationIsTheDefault() {
        storage.config.expiration = .seconds(1)
        storage.store(value: Weight(id: 1), forKey: "1")
        #expect(storage.isCached(forKey: "1"))
        clock.advance(1)
        #expect(!storage.isCached(forKey: "1"))
    }

    @Test func storingExpiredValuesDoesNothing() {
        storage.store(value: Weight(id: 1), forKey: "1")
        storage.store(value: Weight(id: 2), forKey: "1", expiration: .expired)
        storage.store(value: Weight(id: 2), forKey: "2", expiration: .seconds(0))
        #expect(storage.value(forKey: "1")?.id == 1)
        #expect(storage.objects.entry(forKey: "2") == nil)
    }

    /// Upstream: testStoreWithExpirationExtending
    @Test func readingCanMoveTheExpirationLater() throws {
        storage.store(value: Weight(id: 1), forKey: "1", expiration: .seconds(1))
        let before = try #require(storage.objects.entry(forKey: "1")).estimatedExpiration
        _ = storage.value(forKey: "1", extendingExpiration: .expirationTime(.seconds(5)))
        let after = try #require(storage.objects.entry(forKey: "1")).estimatedExpiration
        #expect(after.timeIntervalSince(before) == 4)
    }

    /// Upstream: testStoreWithExpirationNotExtending
    @Test func readingCanLeaveTheExpiration() throws {
        storage.store(value: Weight(id: 1), forKey: "1", expiration: .seconds(2))
        let before = try #require(storage.objects.entry(forKey: "1")).estimatedExpiration
        clock.advance(1)
        _ = storage.value(forKey: "1", extendingExpiration: .none)
        let after = try #require(storage.objects.entry(forKey: "1")).estimatedExpiration
        #expect(after == before)
    }

    /// Upstream: testExtendExpirationByAccessing (MemoryStorageTests)
    @Test func readingExtendsByTheOwnExpirationAndProbingDoesNot() {
        storage.store(value: Weight(id: 1), forKey: "1", expiration: .seconds(0.5))
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

    /// Upstream: testStorageObject
    @Test func extendingStartsTheOwnExpirationAnew() {
        var object = ObjectStore.Entry(
            StoredObject.of(1), expiration: .seconds(10), at: clock.now)
        clock.advance(4)
        object.extendExpiration(at: clock.now)
        #expect(object.estimatedExpiration == clock.now.addingTimeInterval(10))
        #expect(!object.isExpired(at: clock.now.addingTimeInterval(9)))
        #expect(object.isExpired(at: clock.now.addingTimeInterval(10)))
    }

    @Test func limitsOfZeroAreNone() {
        storage.config.totalCostLimit = 0
        storage.config.countLimit = 0
        for id in 1...50 { storage.store(value: Weight(id: id), forKey: "\(id)") }
        #expect(storage.totalCacheCost() == 50)
    }

    @Test func manyThreadsKeepTheLimit() {
        storage.config.totalCostLimit = 40
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            var random = SeededGenerator(state: UInt64(thread))
            for step in 0..<2000 {
                let key = "\(Int.random(in: 0..<60, using: &random))"
                switch step % 4 {
                case 0: storage.store(value: Weight(id: step, cacheCost: 3), forKey: key)
                case 1: _ = storage.value(forKey: key)
                case 2: storage.remove(forKey: key)
                default: storage.removeExpired()
                }
                #expect(storage.totalCacheCost() <= 40)
            }
        }
    }
}

extension MemoryStorageTests {
    /// Defect: D-20
    @Test func extendingNeverBringsAReplacedValueBack() {
        storage.store(value: Weight(id: 0), forKey: "1")
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
}

extension MemoryStorageTests {
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
