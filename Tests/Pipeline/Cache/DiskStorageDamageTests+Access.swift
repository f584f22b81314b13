import Foundation
import Glibc
import HalcyonTestKit
import Testing

@testable import Halcyon
@testable import HalcyonStorage

/// A new storage over files that are there already, and files that may not be read.
extension DiskStorageDamageTests {
    /// Upstream: testStoreAndGetWhenInitialCacheScanFinishesAfterStore
    @Test func aValueStoredWhileTheFolderIsListedStays() throws {
        for number in 0..<50 { try storage.store(value: Note("\(number)"), forKey: "\(number)") }
        // The next one has to list the folder.
        storage.loseIndex()
        let storages = try (0..<4).map { _ in try PatientStore(config) }
        let failures = Locked<[String]>([])
        // Whoever comes first lists the folder; the others store meanwhile.
        DispatchQueue.concurrentPerform(iterations: 16) { number in
            let storage = storages[number % 4]
            do {
                if number.isMultiple(of: 3) { _ = try storage.totalSize() }
                try storage.store("new", forKey: "new \(number)")
                let text = try storage.text(forKey: "new \(number)")
                if text != "new" { failures.withLock { $0.append("\(number)") } }
            } catch {
                failures.withLock { $0.append("\(number): \(error)") }
            }
        }
        #expect(failures.value == [])
        let fresh = try folder.notes()
        #expect((0..<16).allSatisfy { fresh.isCached(forKey: "new \($0)") })
        #expect((0..<50).allSatisfy { fresh.isCached(forKey: "\($0)") })
    }

    // MARK: Without permission

    /// Lets everybody read the folder and the index, which a storage keeps to their owner.
    private func openToAll() {
        for url in [folder.url, storage.directoryURL] { #expect(chmod(url.path, 0o755) == 0) }
        for name in DiskIndex.fileNames {
            // Not all of them are there.
            chmod(storage.directoryURL.appendingPathComponent(name).path, 0o644)
        }
    }

    /// Upstream: testValueWithUnreadableDirectoryReportsMiss
    @Test func aFolderThatMayNotBeEnteredHoldsNothing() throws {
        openToAll()
        #expect(chmod(storage.directoryURL.path, 0) == 0)
        defer { chmod(storage.directoryURL.path, 0o755) }
        try Unprivileged.run {
            #expect(!storage.isCached(forKey: "1"))
            #expect(try storage.value(forKey: "1") == nil)
            let other = try DiskStorage.Backend<Note>(config: config)
            #expect(try other.value(forKey: "1") == nil)
        }
        #expect(chmod(storage.directoryURL.path, 0o755) == 0)
        #expect(try storage.value(forKey: "1") == Note("one"))
    }

    /// Upstream: testValueWithUnreadableFileDataThrows
    @Test func aFileThatMayNotBeReadIsThereButAnError() throws {
        let file = storage.cacheFileURL(forKey: "1").path
        openToAll()
        #expect(chmod(file, 0) == 0)
        Unprivileged.run {
            #expect(storage.isCached(forKey: "1"))
            #expect(KingfisherError.code { _ = try storage.value(forKey: "1") } == 3004)
        }
        #expect(chmod(file, 0o644) == 0)
        #expect(try storage.value(forKey: "1") == Note("one"))
    }

    /// Upstream: testValueWithUnreadableMetadataOnExistingFileThrows
    @Test func anIndexThatMayNotBeReadIsAnError() throws {
        let index = storage.directoryURL.appendingPathComponent(DiskIndex.fileName).path
        openToAll()
        #expect(chmod(index, 0) == 0)
        try Unprivileged.run {
            let other = try DiskStorage.Backend<Note>(config: config)
            #expect(KingfisherError.code { _ = try other.value(forKey: "1") } == 3003)
            #expect(!other.isCached(forKey: "1"))
            #expect(
                KingfisherError.words { _ = try other.totalSize() }
                    == "The index of the cache folder \(storage.directoryURL.path) cannot be used: "
                    + "it cannot be opened.")
            let file = storage.cacheFileURL(forKey: "1").path
            #expect(
                KingfisherError.words { _ = try other.value(forKey: "1") }
                    == "The metadata of \(file) (key 1) cannot be read: "
                    + "The index of the cache cannot be used: it cannot be opened.")
        }
        #expect(chmod(index, 0o644) == 0)
        #expect(try storage.value(forKey: "1") == Note("one"))
    }
}

/// Work without the rights of the superuser, whom the permissions of files do not stop.
private enum Unprivileged {
    // Not in the module map of Glibc. Changes the calling thread only (setfsuid(2)).
    @_silgen_name("setfsuid")
    private static func setfsuid(_ user: uid_t) -> CInt

    /// Runs `body`, which must stay on this thread, as nobody.
    static func run(_ body: () throws -> Void) rethrows {
        let user = geteuid()
        guard user == 0 else { return try body() }
        _ = setfsuid(65534)
        defer { _ = setfsuid(user) }
        try body()
    }
}
