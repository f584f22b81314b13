import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon
@testable import HalcyonStorage

/// Reading, writing, expiring and naming.
@Suite struct DiskStorageTests {
    let clock = TestClock()
    let folder: TemporaryDirectory
    let storage: DiskStorage.Backend<Note>

    init() throws {
        folder = try TemporaryDirectory()
        let config = DiskStorage.Config(name: "test", sizeLimit: 0, directory: folder.url)
        storage = DiskStorage.Backend(config: config, now: { [clock] in clock.now })
        try storage.prepareDirectory()
    }

    private func store(
        _ text: String, forKey key: String, expiration: StorageExpiration? = nil,
        writeOptions: Data.WritingOptions = []
    ) throws {
        try storage.store(
            value: Note(text), forKey: key, expiration: expiration, writeOptions: writeOptions)
    }

    private func isCached(_ key: String, after seconds: TimeInterval) -> Bool {
        storage.isCached(forKey: key, referenceDate: clock.now.addingTimeInterval(seconds))
    }

    private var files: [String] { get throws { try storage.names(hidden: false) } }

    @Test func defaultsAreKingfishers() {
        let config = DiskStorage.Config(name: "x", sizeLimit: 5)
        #expect(config.sizeLimit == 5)
        #expect(config.expiration.timeInterval == 604_800)
        #expect(config.pathExtension == nil)
        #expect(config.usesHashedFileName)
        #expect(!config.autoExtAfterHashedFileName && config.wipesWhenUnusedFor == nil)
    }

    @Test func emptyAndLargeValuesComeBackWhole() throws {
        let large = String(repeating: "0123456789abcdef", count: 300_000)
        try store("", forKey: "empty")
        try store(large, forKey: "large")
        #expect(try storage.value(forKey: "empty") == Note(""))
        #expect(try storage.value(forKey: "large") == Note(large))
        #expect(try storage.totalSize() == 4_800_000)
    }

    /// Upstream: testStoreAndGet, testTotalSize, testRemove, testRemoveAll,
    /// testDirectoryIsPreparedBeforeInitialCacheScan
    @Test func valuesAreStoredReplacedReadCountedAndRemoved() throws {
        #expect(try files.isEmpty, "the folder is there")
        #expect(try storage.totalSize() == 0)
        #expect(!storage.isCached(forKey: "1"))
        #expect(try storage.value(forKey: "1") == nil)
        try store("1", forKey: "1")
        #expect(storage.isCached(forKey: "1"))
        #expect(try storage.value(forKey: "1") == Note("1"))
        #expect(try Data(contentsOf: storage.cacheFileURL(forKey: "1")) == Data("1".utf8))
        try store("22", forKey: "2")
        try store("333", forKey: "1")
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
        #expect(try files.isEmpty)
        #expect(try storage.totalSize() == 0)
    }

    /// Upstream: testSetExpiration
    @Test func anOwnExpirationCountsFromTheStore() throws {
        try store("1", forKey: "1", expiration: .seconds(2))
        #expect(!isCached("1", after: 5))
        clock.advance(1)
        #expect(storage.isCached(forKey: "1"), "which does not extend it")
        clock.advance(1)
        #expect(!storage.isCached(forKey: "1"))
        #expect(try storage.value(forKey: "1") == nil)
        #expect(try files.count == 1, "an expired file stays until it is cleaned")
    }

    /// Upstream: testConfigExpiration, testMaxCachePeriodInSecond
    @Test func theConfigsExpirationIsTheDefault() throws {
        storage.config.expiration = .seconds(1)
        try store("1", forKey: "1")
        #expect(storage.isCached(forKey: "1"))
        #expect(!isCached("1", after: 5))
        storage.config.expiration = .seconds(10)
        try store("2", forKey: "2")
        #expect(isCached("2", after: 5))
    }

    /// Upstream: testExtendExpirationByAccessing (DiskStorageTests)
    @Test func readingExtendsByTheOwnLifetime() throws {
        try store("1", forKey: "1", expiration: .seconds(2))
        clock.advance(1.5)
        _ = try storage.value(forKey: "1")
        #expect(isCached("1", after: 1.5))
        #expect(!isCached("1", after: 8.5))
        storage.files.flushAccesses()
        #expect(isCached("1", after: 1.5))
        #expect(!isCached("1", after: 2))
    }

    /// Upstream: testNotExtendExpirationByAccessing
    @Test func readingCanLeaveOrSetTheExpiration() throws {
        try store("1", forKey: "1", expiration: .seconds(2))
        clock.advance(1)
        _ = try storage.value(forKey: "1", extendingExpiration: .none)
        #expect(!isCached("1", after: 2))
        _ = try storage.value(forKey: "1", extendingExpiration: .expirationTime(.seconds(50)))
        #expect(isCached("1", after: 49))
        #expect(!isCached("1", after: 50))
    }

    @Test func neverStaysNever() throws {
        try store("1", forKey: "1", expiration: .never)
        for _ in 0..<3 {
            clock.advance(1e9)
            #expect(try storage.value(forKey: "1") != nil)
            storage.files.flushAccesses()
        }
        #expect(try storage.removeExpiredValues().isEmpty)
    }

    /// Upstream: testRemoveExpired (DiskStorageTests)
    @Test func expiredFilesAreRemovedAndReturned() throws {
        try store("1", forKey: "1", expiration: .seconds(1))
        try store("2", forKey: "2", expiration: .seconds(1))
        try store("3", forKey: "3")
        clock.advance(1)
        let removed = try storage.removeExpiredValues()
        #expect(
            Set(removed) == [storage.cacheFileURL(forKey: "1"), storage.cacheFileURL(forKey: "2")])
        #expect(try files == ["3".kf.sha256])
        #expect(try storage.totalSize() == 1)
    }

    /// Upstream: testRemoveSizeExceeded
    @Test func theSizeLimitHoldsAfterEachStore() throws {
        storage.config.sizeLimit = 5
        for index in 0..<10 {
            clock.advance(1)
            try store("x", forKey: "\(index)")
            #expect(try storage.totalSize() <= 5)
        }
        #expect((0..<10).filter { storage.isCached(forKey: "\($0)") } == [5, 6, 7, 8, 9])
        #expect(try files.count == 5)
    }

    /// Upstream: testFileMetaOrder
    @Test func theFilesUsedLongestAgoGoFirst() throws {
        storage.config.sizeLimit = 3
        for key in ["a", "b", "c"] {
            clock.advance(1)
            try store("x", forKey: key)
        }
        clock.advance(1)
        _ = try storage.value(forKey: "a")
        clock.advance(1)
        try store("x", forKey: "d")
        #expect(["a", "b", "c", "d"].filter { storage.isCached(forKey: $0) } == ["a", "c", "d"])
    }

    @Test func aValueAboveTheLimitIsNotKept() throws {
        storage.config.sizeLimit = 5
        try store("x", forKey: "other")
        try store("former", forKey: "1")
        try store("x", forKey: "1")
        try store("123456", forKey: "1")
        #expect(!storage.isCached(forKey: "1"))
        #expect(storage.isCached(forKey: "other"))
    }

    /// Upstream: testRemoveSizeExceeded
    @Test func cleaningAtTheLimitLeavesHalf() throws {
        storage.config.sizeLimit = 5
        for index in 0..<5 {
            #expect(try storage.removeSizeExceededValues().isEmpty)
            clock.advance(1)
            try store("x", forKey: "\(index)")
        }
        let removed = try storage.removeSizeExceededValues()
        #expect(removed == ["0", "1", "2"].map { storage.cacheFileURL(forKey: $0) })
        #expect(try storage.totalSize() == 2)
        storage.config.sizeLimit = 0
        #expect(try storage.removeSizeExceededValues().isEmpty, "no limit")
    }

    /// Defect: D-21
    @Test func foldersAreNeverCleaned() throws {
        storage.config.sizeLimit = 1
        let inner = storage.directoryURL.appendingPathComponent("folder")
        try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: true)
        try store("x", forKey: "1")
        clock.advance(1e8)
        _ = try storage.removeSizeExceededValues()
        _ = try storage.removeExpiredValues(referenceDate: Date().addingTimeInterval(1e6))
        #expect(FileManager.default.fileExists(atPath: inner.path))
        #expect(try storage.totalSize() == 0)
    }

    /// Upstream: testConfigUsesHashedFileName
    @Test func namesAreDigestsOrKeys() throws {
        #expect(storage.cacheFileName(forKey: "test") == "test".kf.sha256)
        storage.config.usesHashedFileName = false
        #expect(storage.cacheFileName(forKey: "test") == "test")
        storage.config.pathExtension = "jpg"
        #expect(storage.cacheFileName(forKey: "test") == "test.jpg")
        #expect(storage.cacheFileName(forKey: "test", forcedExtension: "heic") == "test.heic")
    }

    /// Upstream: testConfigUsesHashedFileNameWithAutoExt,
    /// testConfigUsesHashedFileNameWithAutoExtAndProcessor,
    /// testConfigUsesHashedFileNameWithAutoExtAndQueryString,
    /// testConfigUsesHashedFileNameWithAutoExtAndAtSignInPath
    @Test func hashedNamesCanHaveTheKeysExtension() {
        storage.config.autoExtAfterHashedFileName = true
        for (key, suffix) in [
            ("test.gif", ".gif"), ("image.jpg?v=2", ""),
            ("test.jpeg@com.onevcat.Kingfisher.DownsamplingImageProcessor", ".jpeg"),
            ("https://host.net/avatars/57373197@300-1720981878.jpg", ""),
        ] { #expect(storage.cacheFileName(forKey: key) == key.kf.sha256 + suffix) }
        storage.config.usesHashedFileName = false
        #expect(storage.cacheFileName(forKey: "test.gif") == "test.gif")
    }

    @Test(arguments: [
        "a/b", "../../escape", "/etc/passwd", ".", "..", ".index.sqlite", "nul\0nul", "",
        String(repeating: "ü", count: 300), "plain",
    ])
    func everyKeyStaysInTheFolder(key: String) throws {
        storage.config.usesHashedFileName = false
        try store("x", forKey: key)
        #expect(try storage.value(forKey: key) == Note("x"))
        #expect(try files.count == 1)
        try storage.remove(forKey: key)
        #expect(try files.isEmpty)
    }

    @Test func withoutOverwritingAnExistingFileIsAnError() throws {
        try store("1", forKey: "1", writeOptions: .withoutOverwriting)
        let code = KingfisherError.code {
            try store("2", forKey: "1", writeOptions: .withoutOverwriting)
        }
        #expect(code == 3009)
        #expect(try storage.value(forKey: "1") == Note("1"))
        try store("3", forKey: "1", writeOptions: .atomic)
        #expect(try storage.value(forKey: "1") == Note("3"))
    }

    @Test func whatCannotBeConvertedIsAnError() throws {
        #expect(KingfisherError.code { try store("inconvertible", forKey: "1") } == 3007)
        try store("unreadable", forKey: "2")
        #expect(KingfisherError.code { _ = try storage.value(forKey: "2") } == 3004)
    }

    @Test func theIndexKnowsKeyAndFormat() throws {
        let config = DiskStorage.Config(name: "data", sizeLimit: 0, directory: folder.url)
        let storage = try DiskStorage.Backend<Data>(config: config)
        let png = Data(
            [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + Array(repeating: 0, count: 9))
        try storage.store(value: png, forKey: "image")
        try storage.store(value: Data([1, 2, 3]), forKey: "other")
        let rows = try storage.files.reading { index in
            try ["image", "other"].map { try index.row(named: $0.kf.sha256) }
        }
        #expect(rows?[0]?.key == "image")
        #expect(rows?[0]?.format == "PNG")
        #expect(rows?[1]?.format == nil)
    }
}

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
