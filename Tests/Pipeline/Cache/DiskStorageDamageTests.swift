import Foundation
import Glibc
import HalcyonTestKit
import Testing

@testable import Halcyon
@testable import HalcyonStorage

/// What the disk storage makes of crashes, damage, other processes and disks that cannot be written.
@Suite struct DiskStorageDamageTests {
    let folder: TemporaryDirectory
    /// Has "one" for the key "1".
    let storage: DiskStorage.Backend<Note>

    init() throws {
        folder = try TemporaryDirectory()
        storage = try folder.notes()
        try storage.store(value: Note("one"), forKey: "1")
    }

    var config: DiskStorage.Config {
        DiskStorage.Config(name: "test", sizeLimit: 0, directory: folder.url)
    }

    private func exists(_ url: URL) -> Bool { FileManager.default.fileExists(atPath: url.path) }

    /// Overwrites a file in place, as a failing disk would.
    private func overwrite(_ url: URL, with bytes: Data, at offset: UInt64 = 0) throws {
        let file = try FileHandle(forWritingTo: url)
        try file.seek(toOffset: offset)
        try file.write(contentsOf: bytes)
        try file.close()
    }

    // MARK: Files

    /// Upstream: testValueForFileRemovedBehindStorageIsMiss
    @Test func aFileRemovedByOthersIsAMiss() throws {
        try FileManager.default.removeItem(at: storage.cacheFileURL(forKey: "1"))
        #expect(!storage.isCached(forKey: "1"))
        #expect(try storage.value(forKey: "1") == nil)
        #expect(try storage.totalSize() == 0, "the row went with the file")
    }

    /// Damaged is also a file of which a killed process has not written the row.
    @Test(arguments: [true, false])
    func aTruncatedOrDamagedFileIsAMissAndRemoved(isTruncated: Bool) throws {
        let url = storage.cacheFileURL(forKey: "1")
        if isTruncated {
            #expect(truncate(url.path, 2) == 0)
        } else {
            try overwrite(url, with: Data("X".utf8), at: 1)
            #expect(storage.isCached(forKey: "1"), "a probe does not read the bytes")
        }
        #expect(try storage.value(forKey: "1") == nil)
        #expect(!exists(url))
        #expect(!storage.isCached(forKey: "1"))
        #expect(try storage.totalSize() == 0)
    }

    @Test func aFolderInTheFilesPlaceIsAnError() throws {
        let url = storage.cacheFileURL(forKey: "1")
        try FileManager.default.removeItem(at: url)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        #expect(KingfisherError.code { _ = try storage.value(forKey: "1") } == 3004)
        #expect(KingfisherError.code { try storage.store(value: Note("2"), forKey: "1") } == 3009)
    }

    @Test func filesOfOthersInTheFolderAreNeverAdoptedCountedOrRemoved() throws {
        var config = config
        config.expiration = .seconds(1)
        config.cachePathBlock = { directory, _ in directory }
        let photo = try folder.write(Data("a photo".utf8), to: "holiday.jpg")
        let long = String(repeating: "0123456789abcdef", count: 4) + "-copy.jpg"
        let lookalike = try folder.write(Data("another".utf8), to: long)
        let later = Date(timeIntervalSinceNow: 1_000_000)
        let storage = DiskStorage.Backend<Note>(config: config, now: { later })
        #expect(try storage.totalSize() == 0)
        try storage.store(value: Note("one"), forKey: "1")
        #expect(try storage.removeExpiredValues() == [])
        try storage.removeAll()
        #expect(!storage.isCached(forKey: "1"))
        #expect(exists(photo))
        #expect(exists(lookalike))
    }

    @Test func aFileWithoutARowIsNoImageAndCleanedInTime() throws {
        let stray = storage.cacheFileURL(forKey: "2")
        try Data("two".utf8).write(to: stray)
        #expect(try storage.value(forKey: "2") == nil)
        #expect(try storage.removeExpiredValues().isEmpty, "somebody may be about to write the row")
        let removed = try storage.removeExpiredValues(referenceDate: Date() + 120)
        #expect(removed == [stray])
        #expect(storage.isCached(forKey: "1"))
    }

    @Test func theRemainsOfAKilledWriteAreCleaned() throws {
        let remains = storage.directoryURL.appendingPathComponent(TemporaryFile.newName())
        try Data("half a fi".utf8).write(to: remains)
        _ = try storage.removeExpiredValues()
        #expect(exists(remains))
        _ = try storage.removeExpiredValues(referenceDate: Date() + 3600)
        #expect(!exists(remains))
    }

    // MARK: The index

    /// Upstream: testMissForUnknownKeyAfterInitialScanApplied
    @Test func aLostIndexIsMadeAgainFromTheFiles() throws {
        try storage.store(value: Note("two"), forKey: "2")
        storage.loseIndex()
        let rebuilt = try folder.notes()
        #expect(try rebuilt.totalSize() == 6)
        #expect(try rebuilt.value(forKey: "1") == Note("one"))
        #expect(!rebuilt.isCached(forKey: "unknown"))
        #expect(try rebuilt.value(forKey: "unknown") == nil)
        #expect(rebuilt.isCached(forKey: "2", referenceDate: Date() + 6 * 86_400))
        #expect(!rebuilt.isCached(forKey: "2", referenceDate: Date() + 8 * 86_400))
    }

    @Test func aRebuildRevivesNoFileThatHasExpired() throws {
        for key in ["old", "new"] { try storage.store(value: Note(key), forKey: key) }
        let month = 30 * 86_400.0
        let written = Date().timeIntervalSince1970 - month
        let time = timespec(tv_sec: Int(written), tv_nsec: 0)
        let path = storage.cacheFileURL(forKey: "old").path
        #expect(utimensat(AT_FDCWD, path, [time, time], 0) == 0)
        storage.loseIndex()
        let rebuilt = try folder.notes()
        #expect(!rebuilt.isCached(forKey: "old"))
        #expect(try rebuilt.value(forKey: "old") == nil)
        #expect(try rebuilt.value(forKey: "new") == Note("new"))
        let entry = try #require(try rebuilt.entries().first { $0.fileName == "old".kf.sha256 })
        let expires = try #require(entry.expiration)
        #expect(expires.timeIntervalSince1970 <= written + 7 * 86_400, "its lifetime is a week")
        #expect(try rebuilt.removeExpiredValues().map(\.path) == [path])
    }

    @Test(arguments: [
        (StorageExpiration.days(7), StorageExpiration.seconds(60)), (.never, .seconds(60)),
        (.days(7), .days(1)), (.never, .date(Date() + 3600)), (.days(30), .date(Date() + 86_400)),
    ])
    func aRebuildMovesNoExpirationToALaterTime(
        lifetime: StorageExpiration, shorter: StorageExpiration
    ) throws {
        var config = config
        config.expiration = lifetime
        let date = Locked(Date())
        let now: @Sendable () -> Date = { date.value }
        let storage = DiskStorage.Backend<Note>(config: config, now: now)
        try storage.prepareDirectory()
        try storage.store(value: Note("short"), forKey: "short", expiration: shorter)
        try storage.store(value: Note("usual"), forKey: "usual")
        let end = try #require(try storage.entries().first { $0.key == "short" }?.expiration)
        storage.loseIndex()
        let rebuilt = DiskStorage.Backend<Note>(config: config, now: now)
        try rebuilt.prepareDirectory()
        #expect(try rebuilt.value(forKey: "short", extendingExpiration: .none) == Note("short"))
        // The note has milliseconds.
        let name = "short".kf.sha256
        let found = try rebuilt.entries().first { $0.fileName == name }?.expiration
        #expect(try #require(found) <= end + 0.001)
        date.set(end + 0.01)
        #expect(try rebuilt.value(forKey: "short") == nil)
        #expect(try rebuilt.value(forKey: "usual") == Note("usual"))
    }

    @Test(.holdingThreads) func aFileFoundByARebuildGetsItsChecksumWhenRead() async throws {
        let folder = try TemporaryDirectory()
        let storage = try folder.notes()
        let url = storage.cacheFileURL(forKey: "1")
        try Data("one".utf8).write(to: url)
        #expect(try storage.value(forKey: "1") == Note("one"))
        await DiskLane.finishWriting()
        try overwrite(url, with: Data("X".utf8))
        #expect(try storage.value(forKey: "1") == nil)
    }

    @Test func anIndexDeletedWhileRunningIsMadeAgain() throws {
        storage.loseIndex()
        #expect(try storage.value(forKey: "1") == Note("one"))
        try storage.store(value: Note("two"), forKey: "2")
        #expect(exists(storage.directoryURL.appendingPathComponent(DiskIndex.fileName)))
        #expect(try storage.totalSize() == 6)
        let other = try folder.notes()
        #expect(try other.value(forKey: "1") == Note("one"))
        #expect(try other.value(forKey: "2") == Note("two"))
        #expect(try storage.value(forKey: "2") == Note("two"))
    }

    @Test func aGarbledIndexIsMadeAgain() throws {
        let folder = try TemporaryDirectory()
        try folder.notes().store(value: Note("one"), forKey: "1")
        let storage = try folder.notes()
        for name in DiskIndex.fileNames {
            let url = storage.directoryURL.appendingPathComponent(name)
            try Data((0..<8192).map { UInt8(truncatingIfNeeded: $0 &* 7) }).write(to: url)
        }
        #expect(try storage.value(forKey: "1") == Note("one"))
        try storage.store(value: Note("two"), forKey: "2")
        #expect(try folder.notes().value(forKey: "2") == Note("two"))
    }

    @Test func anIndexGarbledWhileRunningIsMadeAgain() throws {
        for index in 0..<200 { try storage.store(value: Note("\(index)"), forKey: "\(index)") }
        let garbage = Data(repeating: 0xA5, count: 1 << 16)
        // In place, the way a failing disk or a stray writer would do it.
        try garbage.withUnsafeBytes { bytes in
            for name in DiskIndex.fileNames.prefix(2) {
                let path = storage.directoryURL.appendingPathComponent(name).path
                let file = open(path, O_WRONLY)
                try #require(file >= 0)
                _ = pwrite(file, bytes.baseAddress, bytes.count, 0)
                // Closing it would take away SQLite's locks in this process.
            }
        }
        for index in 0..<200 {
            let value = try storage.value(forKey: "\(index)")
            #expect(value == nil || value == Note("\(index)"))
        }
        try storage.store(value: Note("new"), forKey: "new")
        #expect(try storage.value(forKey: "new") == Note("new"))
    }

    @Test(arguments: [1, 77])
    func theIndexOfAnotherVersionLosesNoFile(version: Int) throws {
        _ = try storage.files.withIndex(validated: true) { index in
            try index.write { try $0.setVersion(version) }
        }
        #expect(try folder.notes().value(forKey: "1") == Note("one"))
    }

    // MARK: The folder

    /// Upstream: testDiskCacheStillWorkWhenFolderDeletedExternally,
    /// testDiskCacheCalculateSizeWhenFolderDeletedExternally
    @Test func aFolderDeletedWhileRunningIsMadeAgain() throws {
        try FileManager.default.removeItem(at: storage.directoryURL)
        #expect(try storage.value(forKey: "1") == nil)
        #expect(!storage.isCached(forKey: "1"))
        #expect(try storage.totalSize() == 0)
        #expect(try storage.removeExpiredValues().isEmpty)
        #expect(!exists(storage.directoryURL))
        try storage.store(value: Note("two"), forKey: "2")
        #expect(try storage.value(forKey: "2") == Note("two"))
        #expect(try storage.value(forKey: "1") == nil)
        #expect(try storage.totalSize() == 3)
    }

    /// Upstream: testValueOnNotReadyStorageThrows
    /// Defect: D-27
    @Test func aFolderThatCannotBeMadeIsAnErrorUntilAStoreMakesIt() throws {
        try folder.write(Data("a file".utf8), to: "file")
        let config = DiskStorage.Config(name: "test", sizeLimit: 0, directory: folder.file("file"))
        #expect(KingfisherError.code { _ = try DiskStorage.Backend<Note>(config: config) } == 3005)
        let storage = DiskStorage.Backend<Note>(noThrowConfig: config)
        #expect(!storage.isCached(forKey: "1"))
        #expect(KingfisherError.code { _ = try storage.value(forKey: "1") } == 3011)
        #expect(KingfisherError.code { try storage.store(value: Note("1"), forKey: "1") } == 3011)
        try FileManager.default.removeItem(at: folder.file("file"))
        #expect(KingfisherError.code { _ = try storage.value(forKey: "1") } == 3011)
        try storage.store(value: Note("one"), forKey: "1")
        #expect(try storage.value(forKey: "1") == Note("one"))
    }

    @Test func aFolderThatCannotBeWrittenIsAnError() {
        // Nobody may create files there, not even root.
        var config = DiskStorage.Config(name: "test", sizeLimit: 0)
        config.cachePathBlock = { _, _ in URL(fileURLWithPath: "/proc/self", isDirectory: true) }
        let storage = DiskStorage.Backend<Note>(noThrowConfig: config)
        #expect(KingfisherError.code { try storage.store(value: Note("1"), forKey: "1") } == 3009)
        #expect(!storage.isCached(forKey: "1"))
    }

    @Test(.enabled(if: SmallDisk.isPermitted, "mounting a file system needs privileges"))
    func aFullDiskIsAnErrorAndHarmsNothingElse() throws {
        let folder = try TemporaryDirectory()
        let disk = try SmallDisk(at: folder.url, size: "512k")
        defer { disk.unmount() }
        let storage = try folder.notes()
        try storage.store(value: Note("zero"), forKey: "0")
        try storage.store(value: Note("one"), forKey: "1")
        let large = Note(String(repeating: "x", count: 1 << 20))
        #expect(KingfisherError.code { try storage.store(value: large, forKey: "2") } == 3009)
        #expect(try storage.value(forKey: "1") == Note("one"))
        #expect(!storage.isCached(forKey: "2"))

        // Now the index cannot grow either.
        let filler = try disk.fill()
        for key in 3..<20 {
            #expect(
                KingfisherError.code { try storage.store(value: Note("x"), forKey: "\(key)") }
                    == 3009)
        }
        // The index is told of in words, not in SQL.
        let words = KingfisherError.words { try storage.store(value: Note("x"), forKey: "3") }
        #expect(words?.lowercased().contains("no space left on") == true, "\(words ?? "")")
        #expect(words?.contains("SQL") == false)
        #expect(words?.contains("Domain") == false, "\(words ?? "")")
        #expect(try storage.value(forKey: "1") == Note("one"))
        #expect(truncate(storage.cacheFileURL(forKey: "0").path, 1) == 0)
        #expect(try storage.value(forKey: "0") == nil, "damage that cannot be recorded is a miss")
        // Nor can one be made where there is none.
        storage.loseIndex()
        try disk.fill()
        let other = try folder.notes()
        let reasons = KingfisherError.words { _ = try other.entries() }
        #expect(reasons?.lowercased().contains("no space left on") == true, "\(reasons ?? "")")
        #expect(reasons?.contains(storage.directoryURL.path) == true)
        try FileManager.default.removeItem(at: filler)
        try storage.store(value: Note("two"), forKey: "2")
        #expect(try storage.value(forKey: "2") == Note("two"))
        #expect(try storage.value(forKey: "1") == Note("one"))
    }

    // MARK: Others

    /// Defect: D-19
    @Test func storagesOfOneFolderSeeEachOthersFiles() throws {
        let second = try folder.notes()
        #expect(try second.value(forKey: "2") == nil)
        try storage.store(value: Note("two"), forKey: "2")
        #expect(try second.value(forKey: "2") == Note("two"))
        try second.store(value: Note("other"), forKey: "2")
        #expect(try storage.value(forKey: "2") == Note("other"))
        try second.remove(forKey: "2")
        #expect(try storage.value(forKey: "2") == nil)
        try second.removeAll()
        #expect(try storage.totalSize() == 0)
    }

    @Test func manyThreadsAndStoragesNeverSeeAWrongValue() throws {
        try storage.removeAll()
        let storages = try (0..<3).map { _ in try PatientStore(config) }
        DispatchQueue.concurrentPerform(iterations: 6) { thread in
            var random = SeededGenerator(state: UInt64(thread))
            let storage = storages[thread % storages.count]
            for step in 0..<120 {
                let key = "\(Int.random(in: 0..<8, using: &random))"
                do {
                    switch step % 6 {
                    case 0, 1:
                        let tail = String(repeating: "-", count: step * 50)
                        try storage.store("\(key):\(thread):\(tail)", forKey: key)
                    case 5 where step % 5 == 0: try storage.remove(forKey: key)
                    default:
                        let text = try storage.text(forKey: key)
                        #expect(text?.hasPrefix("\(key):") ?? true)
                    }
                } catch {
                    Issue.record(error)
                }
            }
        }
        #expect(try Int(storages[1].totalSize()) == storages[0].directoryURL.visibleSize())
    }

    @Test func aStorageThatIsReplacedIsNeverAMissForReaders() throws {
        DispatchQueue.concurrentPerform(iterations: 3) { thread in
            for step in 0..<150 {
                do {
                    if thread == 0 {
                        let text = String(repeating: "\(step)", count: 1 + step % 17)
                        try storage.store(value: Note(text), forKey: "1")
                    } else {
                        #expect(try storage.value(forKey: "1") != nil)
                        #expect(storage.isCached(forKey: "1"))
                    }
                } catch {
                    Issue.record(error)
                }
            }
        }
    }
}

/// A file system of little space, in memory.
final class SmallDisk {
    private let path: String

    /// Whether this process may mount file systems.
    static let isPermitted: Bool = {
        guard let folder = try? TemporaryDirectory(),
            let disk = try? SmallDisk(at: folder.url, size: "64k")
        else { return false }
        disk.unmount()
        return true
    }()

    init(at url: URL, size: String) throws {
        path = url.path
        guard mount("tmpfs", path, "tmpfs", 0, "size=\(size)") == 0 else {
            throw POSIXError.current
        }
    }

    /// Fills it to the last byte, with a file that is returned.
    @discardableResult
    func fill() throws -> URL {
        let filler = URL(fileURLWithPath: path + "/filler")
        let file = open(filler.path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        try #require(file >= 0)
        let block = [UInt8](repeating: 0, count: 512)
        while write(file, block, block.count) > 0 {}
        close(file)
        return filler
    }

    func unmount() { umount2(path, Int32(MNT_DETACH)) }
}
