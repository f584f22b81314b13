import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

/// A disk cache that loses its files when nobody used it for a day.
@Suite struct UnusedCacheTests {
    let clock = TestClock()
    let folder: TemporaryDirectory
    private let day: TimeInterval = 86_400

    init() throws { folder = try TemporaryDirectory() }

    private func open(_ limit: TimeInterval?) throws -> DiskStorage.Backend<Note> {
        var config = DiskStorage.Config(name: "test", sizeLimit: 0, directory: folder.url)
        config.expiration = .never
        config.wipesWhenUnusedFor = limit
        let storage = DiskStorage.Backend<Note>(config: config, now: { [clock] in clock.now })
        try storage.prepareDirectory()
        return storage
    }

    private func fill() throws {
        let storage = try open(nil)
        for key in ["1", "2", "3"] { try storage.store(value: Note(key), forKey: key) }
    }

    /// Without a limit, within the time, and with a clock that was set back.
    @Test(arguments: [(nil, 1000), (1, 1), (1, -10)] as [(Double?, Double)])
    func everythingIsThere(limit: Double?, later: Double) throws {
        try fill()
        clock.advance(day * later)
        let storage = try open(limit.map { $0 * day })
        for key in ["1", "2", "3"] { #expect(try storage.value(forKey: key) == Note(key)) }
    }

    @Test func everythingIsGoneWhenOpenedAfterMoreThanTheTime() throws {
        try fill()
        clock.advance(day + 1)
        let storage = try open(day)
        #expect(try storage.value(forKey: "1") == nil)
        #expect(!storage.isCached(forKey: "2"))
        #expect(try storage.totalSize() == 0)
        #expect(try storage.names(hidden: false).isEmpty)
    }

    @Test func oneUseKeepsAllFiles() throws {
        try fill()
        clock.advance(day - 10)
        #expect(try open(day).value(forKey: "2") == Note("2"))
        let storage = try open(day)
        try storage.store(value: Note("4"), forKey: "4")
        clock.advance(day - 10)
        #expect(try open(day).value(forKey: "1") == Note("1"))
    }

    @Test func aCleaningWipesWhatWasLeftAloneWhileOpen() throws {
        let storage = try open(day)
        try storage.store(value: Note("1"), forKey: "1")
        clock.advance(day - 1)
        #expect(try storage.removeExpiredValues().isEmpty)
        #expect(try storage.value(forKey: "1", extendingExpiration: .none) == Note("1"))
        clock.advance(day - 1)
        #expect(try storage.removeExpiredValues().isEmpty)
        clock.advance(2)
        #expect(try storage.removeExpiredValues() == [storage.cacheFileURL(forKey: "1")])
        #expect(try storage.value(forKey: "1") == nil)
    }

    @Test func aLimitSetLaterCountsBeforeTheNextUse() throws {
        try fill()
        let storage = try open(nil)
        #expect(storage.isCached(forKey: "1"))
        clock.advance(day + 1)
        #expect(storage.isCached(forKey: "1"))
        storage.config.wipesWhenUnusedFor = day
        #expect(!storage.isCached(forKey: "1"))
    }

    @Test func anImageCacheTellsOfTheFilesItWiped() async throws {
        let fixture = try CacheFixture()
        let cache = fixture.cache
        try await fixture.store("1", [.memoryCacheExpiration(.never)])
        cache.wipeDisk(whenUnusedFor: day)
        await cache.cleanExpiredDiskCache()
        #expect(cache.diskStorage.isCached(forKey: "1"))
        await cache.recordingCleanings { cleanings in
            fixture.clock.advance(day + 1)
            await cache.cleanExpiredDiskCache()
            #expect(await cleanings.waitFor(count: 1) == [[cache.hash(forKey: "1")]])
        }
        #expect(!cache.diskStorage.isCached(forKey: "1"))
        // What is in memory stays.
        #expect(cache.imageCachedType(forKey: "1") == .memory)
    }
}
