import Foundation
import Glibc
import HalcyonTestKit
import Testing

@testable import Halcyon
@testable import HalcyonStorage

/// What somebody has put into the folder to make the storage hang, or touch what is not its own.
@Suite struct HostileFolderTests {
    let folder: TemporaryDirectory
    let storage: DiskStorage.Backend<Note>

    init() throws {
        folder = try TemporaryDirectory()
        storage = try folder.notes()
        try storage.store(value: Note("one"), forKey: "1")
        try storage.store(value: Note("two"), forKey: "2")
    }

    private func path(_ name: String) -> String {
        storage.directoryURL.appendingPathComponent(name).path
    }

    private func mode(_ path: String) -> mode_t {
        var info = stat()
        return lstat(path, &info) == 0 ? info.st_mode & 0o777 : 0
    }

    /// What is no file.
    enum Oddity: String {
        case fifo, socket, device, link, danglingLink, folder

        /// Puts one at a path; `false` when this process may not make it.
        func put(at path: String) -> Bool {
            unlink(path)
            switch self {
            case .fifo: return mkfifo(path, 0o600) == 0
            case .socket: return mknod(path, S_IFSOCK | 0o600, 0) == 0
            // 5, 0 is the terminal of whoever opens it, which the tests have not.
            case .device: return mknod(path, S_IFCHR | 0o600, 5 << 8) == 0
            case .link: return symlink("/dev/zero", path) == 0
            case .danglingLink: return symlink(path + ".nowhere", path) == 0
            case .folder: return mkdir(path, 0o700) == 0
            }
        }
    }

    /// Upstream: testValueForDanglingSymbolicLinkUsesLinkMetadataThenFailsToLoad
    @Test(arguments: [Oddity.fifo, .socket, .device, .link, .danglingLink])
    func whatIsNoFileIsAMissAtOnceAndReplaced(oddity: Oddity) throws {
        for storage in [storage, try folder.notes()] {
            try storage.store(value: Note("one"), forKey: "1")
            guard oddity.put(at: storage.cacheFileURL(forKey: "1").path) else { return }
            #expect(try storage.value(forKey: "1") == nil)
            guard oddity.put(at: storage.cacheFileURL(forKey: "1").path) else { return }
            #expect(!storage.isCached(forKey: "1"))
            guard oddity.put(at: storage.cacheFileURL(forKey: "1").path) else { return }
            try storage.store(value: Note("again"), forKey: "1")
            #expect(try storage.value(forKey: "1") == Note("again"))
            #expect(access(storage.cacheFileURL(forKey: "1").path + ".nowhere", F_OK) != 0)
        }
    }

    @Test(arguments: [Oddity.fifo, .socket, .device, .link, .folder])
    func whatIsNoFileInThePlaceOfTheIndexIsReplacedAtOnce(oddity: Oddity) throws {
        for name in DiskIndex.fileNames {
            guard oddity.put(at: path(name)) else { return }
            let other = try folder.notes()
            #expect(try other.value(forKey: "1") == Note("one"))
            #expect(try storage.value(forKey: "2") == Note("two"))
            try other.store(value: Note("three"), forKey: "3")
            #expect(try folder.notes().value(forKey: "3") == Note("three"))
            #expect(try other.totalSize() == 11)
        }
    }

    @Test func aFolderWithSomethingInItInThePlaceOfTheIndexStaysAndIsDoneWithout() throws {
        let index = path(DiskIndex.fileName)
        #expect(unlink(index) == 0 && mkdir(index, 0o700) == 0)
        try Data("mine".utf8).write(to: URL(fileURLWithPath: index + "/letter"))
        for storage in [storage, try folder.notes()] {
            #expect(try storage.value(forKey: "1") == Note("one"))
            try storage.store(value: Note("three"), forKey: "3")
            #expect(try storage.value(forKey: "3") == Note("three"))
            #expect(try storage.totalSize() == 11)
            #expect(Set(try storage.entries().map(\.size)) == [3, 5])
            try storage.remove(forKey: "3")
            #expect(!storage.isCached(forKey: "3"))
        }
        #expect(access(index + "/letter", F_OK) == 0)
        #expect(try folder.notes().removeAllFiles().count == 2)
        try storage.store(value: Note("one"), forKey: "1")
        #expect(try storage.entries().first?.key == "1", "there is an index again")
        let hidden = try storage.names()
        let moved = hidden.filter { access(path($0) + "/letter", F_OK) == 0 }
        #expect(moved.count == 1, "nothing of others is removed")
        #expect(Set(hidden).subtracting(moved).subtracting(DiskIndex.fileNames) == ["1".kf.sha256])
    }

    @Test func aFolderInThePlaceOfAFileMakesWayWhenTheCacheIsClearedAndStays() throws {
        let file = storage.cacheFileURL(forKey: "1").path
        for round in 1...2 {
            #expect(unlink(file) == 0 && mkdir(file, 0o700) == 0)
            try Data("mine".utf8).write(to: URL(fileURLWithPath: file + "/letter"))
            #expect(!storage.isCached(forKey: "1"))
            try storage.removeAll()
            try storage.store(value: Note("again"), forKey: "1")
            for storage in [storage, try folder.notes()] {
                #expect(try storage.value(forKey: "1") == Note("again"))
            }
            let names = try storage.names()
            let moved = names.filter { access(path($0) + "/letter", F_OK) == 0 }
            #expect(moved.count == round, "nothing of others is removed")
            #expect(!names.contains { $0.hasPrefix(".tmp") })
            try storage.removeAll()
            try storage.store(value: Note("one"), forKey: "1")
        }
    }

    @Test func linksWithNamesOfFilesAreNotAdopted() throws {
        let secret = try folder.write(Data("secret".utf8), to: "secret.txt")
        #expect(symlink(secret.path, storage.cacheFileURL(forKey: "3").path) == 0)
        storage.loseIndex()
        let other = try folder.notes()
        #expect(try other.totalSize() == 6)
        #expect(!other.isCached(forKey: "3"))
        #expect(try other.value(forKey: "3") == nil)
        try other.store(value: Note("three"), forKey: "3")
        #expect(try Data(contentsOf: secret) == Data("secret".utf8))
    }

    @Test func aRowThatNamesAFileElsewhereRemovesNothing() throws {
        let victim = try folder.write(Data("dear".utf8), to: "victim.txt")
        let sibling = storage.directoryURL.appendingPathComponent("holiday.jpg")
        try Data("mine".utf8).write(to: sibling)
        for name in ["../victim.txt", victim.path, "holiday.jpg", DiskIndex.fileName, ".", ""] {
            for clean in [
                { _ = try $0.removeExpiredValues(referenceDate: .distantFuture) },
                {
                    $0.config.sizeLimit = 1; _ = try $0.removeSizeExceededValues()
                },
                {
                    $0.config.sizeLimit = 1; try $0.store(value: Note("x"), forKey: "x")
                },
                {
                    $0.config.wipesWhenUnusedFor = 1; _ = try $0.removeExpiredValues()
                },
                { try $0.removeAll() },
            ] as [(DiskStorage.Backend<Note>) throws -> Void] {
                _ = try storage.files.withIndex(validated: true) { index in
                    try index.write {
                        try $0.upsert(
                            IndexRow(
                                name: name, key: nil, size: 4, checksum: nil, expires: 1,
                                accessed: 1, format: nil))
                    }
                }
                try clean(folder.notes())
                #expect(try Data(contentsOf: victim) == Data("dear".utf8), "\(name)")
                #expect(try Data(contentsOf: sibling) == Data("mine".utf8), "\(name)")
            }
        }
    }

    @Test func whatIsCutShortWhileRunningIsNoHarm() throws {
        let names = DiskIndex.fileNames
        for name in names {
            #expect(truncate(path(name), 0) == 0 || errno == ENOENT)
            for key in ["1", "2"] {
                #expect(try [nil, Note("one"), Note("two")].contains(storage.value(forKey: key)))
            }
            try storage.store(value: Note("one"), forKey: "1")
            #expect(try folder.notes().value(forKey: "1") == Note("one"))
            #expect(try storage.totalSize() >= 3)
        }
        // No memory of this process is a file of the folder, so that cutting one short cannot end it.
        let maps = try String(contentsOfFile: "/proc/self/maps", encoding: .utf8)
        #expect(!maps.contains(storage.directoryURL.path))
    }

    @Test func aFolderMovedAwayTakesNothingAlong() throws {
        #expect(rename(storage.directoryURL.path, folder.file("moved").path) == 0)
        try storage.store(value: Note("new"), forKey: "1")
        #expect(try folder.notes().value(forKey: "1") == Note("new"))
        #expect(try storage.value(forKey: "1") == Note("new"))
        #expect(try storage.value(forKey: "2") == nil)
        let left = folder.file("moved/\("1".kf.sha256)")
        #expect(try Data(contentsOf: left) == Data("one".utf8))
    }

    // MARK: Permissions

    @Test func folderAndFilesAreTheirOwnersAlone() throws {
        let former = umask(0)
        defer { umask(former) }
        let config = DiskStorage.Config(name: "new", sizeLimit: 0, directory: folder.url)
        let storage = try DiskStorage.Backend<Note>(config: config)
        try storage.store(value: Note("one"), forKey: "1")
        let folder = storage.directoryURL.path
        #expect(mode(folder) == 0o700)
        for name in try storage.names() { #expect(mode("\(folder)/\(name)") == 0o600, "\(name)") }
    }

    @Test func aFolderThatWasThereKeepsItsPermissions() throws {
        let config = DiskStorage.Config(name: "shared", sizeLimit: 0, directory: folder.url)
        let url = DiskStorage.Location(config).url
        #expect(mkdir(url.path, 0o750) == 0 && chmod(url.path, 0o750) == 0)
        let storage = try DiskStorage.Backend<Note>(config: config)
        try storage.store(value: Note("one"), forKey: "1")
        #expect(mode(url.path) == 0o750)
        #expect(mode(storage.cacheFileURL(forKey: "1").path) == 0o600)
    }

    // MARK: Removing everything

    @Test func whatWasRemovedIsCountedWithTheRemainsOfCrashes() throws {
        let remains = TemporaryFile.newName()
        try Data("half".utf8).write(to: storage.directoryURL.appendingPathComponent(remains))
        let stray = storage.cacheFileURL(forKey: "3").lastPathComponent
        try Data("stray".utf8).write(to: storage.directoryURL.appendingPathComponent(stray))
        let removed = try storage.removeAllFiles()
        #expect(Set(removed.map(\.fileName)) == ["1".kf.sha256, "2".kf.sha256, remains, stray])
        #expect(removed.reduce(0) { $0 + $1.size } == 15)
        #expect(try storage.names() == [])
        #expect(try storage.removeAllFiles() == [])
    }

    // MARK: Secrets

    @Test func secretsOfURLsAreNowhereInTheFolder() throws {
        let key = "https://anna:pa55w0rd@host/a.jpg?w=5&token=t0ps3cret@com.onevcat.Kingfisher.X"
        try storage.store(value: Note("x"), forKey: key)
        #expect(try folder.notes().value(forKey: key) == Note("x"))
        let entry = try storage.entries().first { $0.size == 1 }
        #expect(entry?.key == "https://***@host/a.jpg?w=5&token=***@com.onevcat.Kingfisher.X")
        for name in try storage.names() {
            let bytes = try Data(contentsOf: storage.directoryURL.appendingPathComponent(name))
            for secret in ["pa55w0rd", "t0ps3cret"] {
                #expect(bytes.range(of: Data(secret.utf8)) == nil, "\(name)")
            }
        }
    }
}
