package import Foundation
import Glibc
import HalcyonWork
import Synchronization

/// Partial files by key, in a folder of their own.
///
/// The folder has the index of a cache folder. Its rows hold the number of valid bytes of a file,
/// their checksum, and a description in place of the key. A file belongs to one ``PartialFile`` of
/// one process at a time, by a lock that ends with the process. Nothing is synced to the disk:
/// damage by a power failure is found by the checksum.
package final class PartialFiles: Sendable {
    /// The age in seconds at which a file without a row is removed.
    private static let strayAge = 60.0
    /// The interval in seconds between removals of expired files.
    private static let cleaningInterval = 3600.0
    private static let fileExtension = "part"

    let directory: CacheDirectory
    let operations = DiskOperations()
    private let sizeLimit: Int
    private let expiration: StorageExpiration
    private let cleaning = Mutex<RepeatingTimer?>(nil)
    let failed = OneShot<any Error>()

    /// - Parameters:
    ///   - folder: `nil` for `halcyon/partials` among the user's caches.
    ///   - sizeLimit: The limit of all files in bytes; beyond it the least recently written are
    ///     removed.
    ///   - expiration: Counted from the last write of a file.
    ///   - onFailure: Called with the first error that prevents writing.
    package init(
        folder: URL?, sizeLimit: Int, expiration: StorageExpiration,
        now: @escaping @Sendable () -> Date = { Date() },
        onFailure: @escaping @Sendable (any Error) -> Void = { _ in }
    ) {
        var config = DiskStorage.Config(name: "partials", sizeLimit: 0)
        config.expiration = expiration
        if let folder { config.cachePathBlock = { _, _ in folder } }
        directory = CacheDirectory(config: config, now: now)
        self.sizeLimit = max(0, sizeLimit)
        self.expiration = expiration
        failed.whenGiven(onFailure)
    }

    /// The file of a key, which is opened and locked on first use. Quick.
    package func file(forKey key: String) -> PartialFile {
        cleanFromNowOn()
        return PartialFile(
            CacheFileName.name(
                base: CacheFileName.digest(of: key), extension: Self.fileExtension),
            of: self)
    }

    package func finishWriting() async {
        await operations.finishAll()
    }

    /// The total bytes of all files, after pending writes.
    package var size: Int {
        get async {
            await finishWriting()
            return await DiskLane.reading.run {
                // A folder that cannot be read counts as empty.
                (try? self.directory.reading { try $0.totalSize() }) ?? 0
            }
        }
    }

    /// Removes all files that are not being written.
    package func removeAll() async {
        await finishWriting()
        await DiskLane.writing.run { self.remove { _, _ in true } }
    }

    private func cleanFromNowOn() {
        let clean: @Sendable () -> Void = { [weak self] in self?.clean() }
        let isFirst = cleaning.withLock { timer in
            guard timer == nil else { return false }
            timer = RepeatingTimer(
                after: Self.cleaningInterval, every: Self.cleaningInterval
            ) {
                DiskLane.writing.submit(clean)
            }
            return true
        }
        if isFirst { DiskLane.writing.submit(clean) }
    }

    /// Removes expired files, and those left by crashes. Blocks.
    func clean() {
        let now = directory.now().timeIntervalSince1970
        remove { row, file in
            if let row { return row.expires <= now || file == nil }
            return file.map { $0.changed < now - Self.strayAge } ?? false
        }
    }

    private func remove(
        where isUnwanted: (IndexRow?, DiskFile.Metadata?) -> Bool
    ) {
        // Files that cannot be removed now are removed the next time.
        _ = try? directory.writing { transaction in
            let folder = transaction.folder
            let rows = try transaction.rows().filter { Self.isName($0.name) }
            for row in rows where isUnwanted(row, folder.metadata(row.name)) {
                if folder.removeUnheld(row.name) { try transaction.delete(row.name) }
            }
            let known = Set(rows.map(\.name))
            for name in folder.names(hidden: false) ?? []
            where Self.isName(name) && !known.contains(name) {
                if isUnwanted(nil, folder.metadata(name)) { folder.removeUnheld(name) }
            }
        }
    }

    private static func isName(_ name: String) -> Bool {
        CacheFileName.isDigest(name) && name.hasSuffix(".\(fileExtension)")
    }
}

// The file operations of a `PartialFile`. All block.
extension PartialFiles {
    /// Locks the file `name`; with `creating`, an empty new one if there is none. `.open` without a
    /// file, `.closed` if another process holds it.
    func claim(_ name: String, creating: Bool) throws -> PartialFile.State {
        if creating { try directory.prepare() }
        guard let folder = try directory.openFolder(validated: true) else { return .open }
        return try folder.claim(name, creating: creating)
    }

    /// The row of a file, if it is complete and not expired.
    func row(of name: String) throws -> IndexRow? {
        let now = directory.now().timeIntervalSince1970
        let row = try directory.reading { try $0.row(named: name) } ?? nil
        guard let row, row.key != nil, row.checksum != nil, row.expires > now else { return nil }
        return row
    }

    /// The valid bytes of a held file; `nil` when they contradict the row.
    func bytes(of name: String, row: IndexRow) throws -> Data? {
        guard let folder = try directory.openFolder(validated: false),
            case .bytes(let bytes, _) = try folder.read(name, size: row.size),
            DiskFile.checksum(bytes) == row.checksum
        else { return nil }
        return bytes
    }

    /// Notes the growth of a held file, and makes room for it; returns whether it may stay.
    func note(_ name: String, _ file: HeldFile, description: String) throws -> Bool {
        guard file.length <= sizeLimit else { return false }
        let date = directory.now()
        let row = IndexRow(
            name: name, key: description, size: file.length, checksum: file.checksum.value,
            expires: expiration.estimatedExpirationSince(date).timeIntervalSince1970,
            accessed: date.timeIntervalSince1970, format: nil)
        let isNoted: Void? = try directory.writing { transaction in
            try transaction.upsert(row)
            let old = try transaction.filesToEvict(downTo: sizeLimit) { other in
                other != name && Self.isName(other) && transaction.folder.removeUnheld(other)
            }
            for file in old { try transaction.delete(file.name) }
        }
        return isNoted != nil
    }

    func drop(_ name: String) {
        // First the file: a row without one is recognized as stale.
        _ = try? directory.openFolder(validated: false)?.remove(name)
        _ = try? directory.writing { try $0.delete(name) }
    }
}

extension CacheFolder {
    fileprivate func claim(
        _ name: String, creating: Bool
    ) throws(POSIXError) -> PartialFile.State {
        let descriptor = openForAppending(name, creating: creating)
        guard descriptor >= 0 else {
            if errno == ENOENT { return .open }
            throw .current
        }
        let file = HeldFile(descriptor)
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { return .closed }
        // The former holder may have removed it meanwhile.
        guard let metadata = metadata(name), metadata.isRegular,
            metadata.stamp.identity == file.identity
        else { return .closed }
        return .held(file)
    }

    /// Removes a file unless it is locked; returns whether it is gone.
    @discardableResult
    fileprivate func removeUnheld(_ name: String) -> Bool {
        // A file that cannot be opened stays.
        switch try? claim(name, creating: false) {
        case .held?: remove(name)
        case .open?: true
        case .closed?, nil: false
        }
    }
}
