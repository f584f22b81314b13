import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon
@testable import HalcyonStorage

/// Reading, writing, expiring and naming.
@Suite struct DiskStorageTests {
    let clock = TestClock()
    let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
    }

    private func makeStorage(
        sizeLimit: UInt = 0, _ change: (inout DiskStorage.Config) -> Void = { _ in }
    ) throws -> DiskStorage.Backend<Note> {
        var config = DiskStorage.Config(name: "test", sizeLimit: sizeLimit, directory: folder.url)
        change(&config)
        let storage = DiskStorage.Backend<Note>(config: config, now: { [clock] in clock.now })
        try storage.prepareDirectory()
        return storage
    }

    private func files(of storage: DiskStorage.Backend<Note>) throws -> [String] {
        try storage.names(hidden: false)
    }

    @Test func defaultsAreKingfishers() {
        let config = DiskStorage.Config(name: "x", sizeLimit: 5)
        #expect(config.sizeLimit == 5)
        #expect(config.expiration.timeInterval == 604_800)
        #expect(config.pathExtension == nil)
        #expect(config.usesHashedFileName)
        #expect(!config.autoExtAfterHashedFileName)
    }

    @Test func emptyAndLargeValuesComeBackWhole() throws {
        let storage = try makeStorage()
        let large = String(repeating: "0123456789abcdef", count: 300_000)
        try storage.store(value: Note(""), forKey: "empty")
        try storage.store(value: Note(large), forKey: "large")
        #expect(try storage.value(forKey: "empty") == Note(""))
        #expect(try storage.value(forKey: "large") == Note(large))
        #expect(try storage.totalSize() == 4_800_000)
    }

    /// Upstream: testStoreAndGet, testTotalSize, testRemove, testRemoveAll,
    /// testDirectoryIsPreparedBeforeInitialCacheScan
    @Test func valuesAreStoredReplacedReadCountedAndRemoved() throws {
        let storage = try makeStorage()
        #expect(try files(of: storage).isEmpty, "the folder is there")
        #expect(try storage.totalSize() == 0)
        #expect(!storage.isCached(forKey: "1"))
        #expect(try storage.value(forKey: "1") == nil)
        try storage.store(value: Note("1"), forKey: "1")
        #expect(storage.isCached(forKey: "1"))
        #expect(try storage.value(forKey: "1") == Note("1"))
        #expect(try Data(contentsOf: storage.cacheFileURL(forKey: "1")) == Data("1".utf8))
        try storage.store(value: Note("22"), forKey: "2")
        try storage.store(value: Note("333"), forKey: "1")
        #expect(try storage.value(forKey: "1") == Note("333"))
        #expect(try storage.totalSize() == 5)
        #expect(try Set(storage.names()).subtracting(DiskIndex.fileNames).count == 2)
        try storage.remove(forKey: "2")
        try storage.remove(forKey: "2")
        #expect(!storage.isCached(forKey: "2"))
        #expect(storage.isCached(forKey: "1"))
        #expect(try storage.totalSize() == 3)
        try storage.removeAll()
        #expect(try storage.value(forKey: "1") == nil)
        #expect(try files(of: storage).isEmpty)
        #expect(try storage.totalSize() == 0)
    }

    /// Upstream: testSetExpiration
    @Test func anOwnExpirationCountsFromTheStore() throws {
        let storage = try makeStorage()
        try storage.store(value: Note("1"), forKey: "1", expiration: .seconds(2))
        #expect(!storage.isCached(forKey: "1", referenceDate: clock.now.addingTimeInterval(5)))
        clock.advance(1)
        #expect(storage.isCached(forKey: "1"), "which does not extend it")
        clock.advance(1)
        #expect(!storage.isCached(forKey: "1"))
        #expect(try storage.value(forKey: "1") == nil)
        #expect(try files(of: storage).count == 1, "an expired file stays until it is cleaned")
    }

    /// Upstream: testConfigExpiration, testMaxCachePeriodInSecond
    @Test func theConfigsExpirationIsTheDefault() throws {
        let storage = try makeStorage { $0.expiration = .seconds(1) }
        try storage.store(value: Note("1"), forKey: "1")
        #expect(storage.isCached(forKey: "1"))
        #expect(!storage.isCached(forKey: "1", referenceDate: clock.now.addingTimeInterval(5)))
        storage.config.expiration = .seconds(10)
        try storage.store(value: Note("2"), forKey: "2")
        #expect(storage.isCached(forKey: "2", referenceDate: clock.now.addingTimeInterval(5)))
    }

    @Test func storingExpiredValuesDoesNothing() throws {
        let storage = try makeStorage()
        try storage.store(value: Note("1"), forKey: "1", expiration: .expired)
        #expect(try files(of: storage).isEmpty)
        #expect(!storage.isCached(forKey: "1"))
    }

    /// Upstream: testExtendExpirationByAccessing (DiskStorageTests)
    @Test func readingExtendsByTheOwnLifetime() throws {
        let storage = try makeStorage()
        let start = clock.now
        try storage.store(value: Note("1"), forKey: "1", expiration: .seconds(2))
        clock.advance(1.5)
        _ = try storage.value(forKey: "1")
        #expect(storage.isCached(forKey: "1", referenceDate: start.addingTimeInterval(3)))
        #expect(!storage.isCached(forKey: "1", referenceDate: start.addingTimeInterval(10)))
        storage.files.flushAccesses()
        #expect(storage.isCached(forKey: "1", referenceDate: start.addingTimeInterval(3)))
        #expect(!storage.isCached(forKey: "1", referenceDate: start.addingTimeInterval(3.5)))
    }

    /// Upstream: testNotExtendExpirationByAccessing
    @Test func readingCanLeaveOrSetTheExpiration() throws {
        let storage = try makeStorage()
        let start = clock.now
        try storage.store(value: Note("1"), forKey: "1", expiration: .seconds(2))
        clock.advance(1)
        _ = try storage.value(forKey: "1", extendingExpiration: .none)
        #expect(!storage.isCached(forKey: "1", referenceDate: start.addingTimeInterval(3)))
        _ = try storage.value(forKey: "1", extendingExpiration: .expirationTime(.seconds(50)))
        #expect(storage.isCached(forKey: "1", referenceDate: start.addingTimeInterval(50)))
        #expect(!storage.isCached(forKey: "1", referenceDate: start.addingTimeInterval(51)))
    }

    @Test func neverStaysNever() throws {
        let storage = try makeStorage()
        try storage.store(value: Note("1"), forKey: "1", expiration: .never)
        for _ in 0..<3 {
            clock.advance(1e9)
            #expect(try storage.value(forKey: "1") != nil)
            storage.files.flushAccesses()
        }
        #expect(try storage.removeExpiredValues().isEmpty)
    }

    /// Upstream: testRemoveExpired (DiskStorageTests)
    @Test func expiredFilesAreRemovedAndReturned() throws {
        let storage = try makeStorage()
        try storage.store(value: Note("1"), forKey: "1", expiration: .seconds(1))
        try storage.store(value: Note("2"), forKey: "2", expiration: .seconds(1))
        try storage.store(value: Note("3"), forKey: "3")
        clock.advance(1)
        let removed = try storage.removeExpiredValues()
        #expect(
            Set(removed) == [storage.cacheFileURL(forKey: "1"), storage.cacheFileURL(forKey: "2")])
        #expect(try files(of: storage) == ["3".kf.sha256])
        #expect(try storage.totalSize() == 1)
    }

    /// Upstream: testRemoveSizeExceeded
    @Test func theSizeLimitHoldsAfterEachStore() throws {
        let storage = try makeStorage(sizeLimit: 5)
        for index in 0..<10 {
            clock.advance(1)
            try storage.store(value: Note("x"), forKey: "\(index)")
            #expect(try storage.totalSize() <= 5)
        }
        #expect((0..<10).filter { storage.isCached(forKey: "\($0)") } == [5, 6, 7, 8, 9])
        #expect(try files(of: storage).count == 5)
    }

    /// Upstream: testFileMetaOrder
    @Test func theFilesUsedLongestAgoGoFirst() throws {
        let storage = try makeStorage(sizeLimit: 3)
        for key in ["a", "b", "c"] {
            clock.advance(1)
            try storage.store(value: Note("x"), forKey: key)
        }
        clock.advance(1)
        _ = try storage.value(forKey: "a")
        clock.advance(1)
        try storage.store(value: Note("x"), forKey: "d")
        #expect(["a", "b", "c", "d"].filter { storage.isCached(forKey: $0) } == ["a", "c", "d"])
    }

    @Test func aValueAboveTheLimitIsNotKept() throws {
        let storage = try makeStorage(sizeLimit: 5)
        try storage.store(value: Note("x"), forKey: "other")
        try storage.store(value: Note("former"), forKey: "1")
        try storage.store(value: Note("x"), forKey: "1")
        try storage.store(value: Note("123456"), forKey: "1")
        #expect(!storage.isCached(forKey: "1"))
        #expect(storage.isCached(forKey: "other"))
    }

    /// Upstream: testRemoveSizeExceeded
    @Test func cleaningAtTheLimitLeavesHalf() throws {
        let storage = try makeStorage(sizeLimit: 5)
        for index in 0..<5 {
            #expect(try storage.removeSizeExceededValues().isEmpty)
            clock.advance(1)
            try storage.store(value: Note("x"), forKey: "\(index)")
        }
        let removed = try storage.removeSizeExceededValues()
        #expect(removed == ["0", "1", "2"].map { storage.cacheFileURL(forKey: $0) })
        #expect(try storage.totalSize() == 2)
        storage.config.sizeLimit = 0
        #expect(try storage.removeSizeExceededValues().isEmpty, "no limit")
    }

    /// Defect: D-21
    @Test func foldersAreNeverCleaned() throws {
        let storage = try makeStorage(sizeLimit: 1)
        let inner = storage.directoryURL.appendingPathComponent("folder")
        try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: true)
        try storage.store(value: Note("x"), forKey: "1")
        clock.advance(1e8)
        _ = try storage.removeSizeExceededValues()
        _ = try storage.removeExpiredValues(referenceDate: Date().addingTimeInterval(1e6))
        #expect(FileManager.default.fileExists(atPath: inner.path))
        #expect(try storage.totalSize() == 0)
    }

    /// Upstream: testConfigUsesHashedFileName
    @Test func namesAreDigestsOrKeys() throws {
        let storage = try makeStorage()
        #expect(storage.cacheFileName(forKey: "test") == "test".kf.sha256)
        storage.config.usesHashedFileName = false
        #expect(storage.cacheFileName(forKey: "test") == "test")
        storage.config.pathExtension = "jpg"
        #expect(storage.cacheFileName(forKey: "test") == "test.jpg")
        #expect(storage.cacheFileName(forKey: "test", forcedExtension: "heic") == "test.heic")
    }

    /// Upstream: testConfigUsesHashedFileNameWithAutoExt,
    /// testConfigUsesHashedFileNameWithAutoExtAndProcessor,
    /// testConfigUsesHashedFileNameWithAutoExtAndQueryString
    @Test func hashedNamesCanHaveTheKeysExtension() throws {
        let storage = try makeStorage { $0.autoExtAfterHashedFileName = true }
        let name = { storage.cacheFileName(forKey: $0) }
        #expect(name("test.gif") == "test.gif".kf.sha256 + ".gif")
        let processed = "test.jpeg@com.onevcat.Kingfisher.DownsamplingImageProcessor"
        #expect(name(processed) == processed.kf.sha256 + ".jpeg")
        #expect(name("image.jpg?v=2") == "image.jpg?v=2".kf.sha256)
        storage.config.usesHashedFileName = false
        #expect(name("test.gif") == "test.gif")
    }

    /// Upstream: testConfigUsesHashedFileNameWithAutoExtAndAtSignInPath
    @Test func anAtSignInThePathGivesNoExtension() throws {
        let storage = try makeStorage { $0.autoExtAfterHashedFileName = true }
        let key = "https://host.net/avatars/57373197@300-1720981878.jpg"
        #expect(storage.cacheFileName(forKey: key) == key.kf.sha256)
        try storage.store(value: Note("x"), forKey: key)
        #expect(try storage.value(forKey: key) == Note("x"))
    }

    @Test(arguments: [
        "a/b", "../../escape", "/etc/passwd", ".", "..", ".index.sqlite", "nul\0nul", "",
        String(repeating: "ü", count: 300), "plain",
    ])
    func everyKeyStaysInTheFolder(key: String) throws {
        let storage = try makeStorage { $0.usesHashedFileName = false }
        try storage.store(value: Note("x"), forKey: key)
        #expect(try storage.value(forKey: key) == Note("x"))
        #expect(try files(of: storage).count == 1)
        try storage.remove(forKey: key)
        #expect(try files(of: storage).isEmpty)
    }

    @Test func withoutOverwritingAnExistingFileIsAnError() throws {
        let storage = try makeStorage()
        try storage.store(value: Note("1"), forKey: "1", writeOptions: .withoutOverwriting)
        let code = KingfisherError.code {
            try storage.store(value: Note("2"), forKey: "1", writeOptions: .withoutOverwriting)
        }
        #expect(code == 3009)
        #expect(try storage.value(forKey: "1") == Note("1"))
        try storage.store(value: Note("3"), forKey: "1", writeOptions: .atomic)
        #expect(try storage.value(forKey: "1") == Note("3"))
    }

    @Test func whatCannotBeConvertedIsAnError() throws {
        let storage = try makeStorage()
        #expect(
            KingfisherError.code { try storage.store(value: Note("inconvertible"), forKey: "1") }
                == 3007)
        try storage.store(value: Note("unreadable"), forKey: "2")
        #expect(KingfisherError.code { _ = try storage.value(forKey: "2") } == 3004)
    }

    @Test func theIndexKnowsKeyAndFormat() throws {
        let config = DiskStorage.Config(name: "data", sizeLimit: 0, directory: folder.url)
        let storage = try DiskStorage.Backend<Data>(config: config)
        let png = Data(
            [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + Array(repeating: 0, count: 9))
        try storage.store(value: png, forKey: "image")
        try storage.store(value: Data([1, 2, 3]), forKey: "other")
        let rows = try storage.files.withIndex(validated: true) { index in
            try ["image", "other"].map { try index.row(named: $0.kf.sha256) }
        }
        #expect(rows?[0]?.key == "image")
        #expect(rows?[0]?.format == "PNG")
        #expect(rows?[1]?.format == nil)
    }
}

/// Where the folder is.
@Suite struct DiskStorageLocationTests {
    private static let home = FileManager.default.homeDirectoryForCurrentUser.path

    @Test(
        arguments: [
            (["XDG_CACHE_HOME": "/var/caches"], "/var/caches/halcyon/images"),
            (["HOME": "/somewhere", "XDG_CACHE_HOME": "/caches"], "/caches/halcyon/images"),
            (["HOME": "/somewhere"], "/somewhere/.cache/halcyon/images"),
            ([:], home + "/.cache/halcyon/images"),
            (["XDG_CACHE_HOME": ""], home + "/.cache/halcyon/images"),
            (["XDG_CACHE_HOME": "relative/path"], home + "/.cache/halcyon/images"),
        ] as [([String: String], String)])
    func isInTheUsersCaches(environment: [String: String], path: String) {
        let config = DiskStorage.Config(name: "images", sizeLimit: 0)
        #expect(DiskStorage.Location(config, environment: environment).url.path == path)
    }

    @Test func hasKingfishersNameInAGivenFolder() {
        let config = DiskStorage.Config(
            name: "images", sizeLimit: 0, directory: URL(fileURLWithPath: "/data"))
        #expect(
            DiskStorage.Location(config, environment: [:]).url.path
                == "/data/com.onevcat.Kingfisher.ImageCache.images")
    }

    @Test func followsTheBlockWhichIsDroppedAfterwards() throws {
        let folder = try TemporaryDirectory()
        var config = DiskStorage.Config(name: "images", sizeLimit: 0, directory: folder.url)
        config.cachePathBlock = { $0.appendingPathComponent("mine-\($1)") }
        let storage = try DiskStorage.Backend<Data>(config: config)
        let expected = "mine-com.onevcat.Kingfisher.ImageCache.images"
        #expect(storage.directoryURL.path == folder.url.appendingPathComponent(expected).path)
        #expect(storage.config.cachePathBlock == nil)
        storage.config.cachePathBlock = { url, _ in url }
        #expect(storage.config.cachePathBlock == nil)
    }
}
