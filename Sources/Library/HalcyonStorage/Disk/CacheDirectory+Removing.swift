package import Foundation
import GRDB
import Glibc

extension CacheDirectory {
    /// The age in seconds at which a file without a row is removed: until then another process may
    /// be about to write the row.
    private static let strayAge = 60.0
    /// Seconds after which a file that was being written is the remains of a crash.
    private static let temporaryAge = 600.0

    /// Removes a file, if it is there; with `content`, only if that is what it holds.
    /// - Throws: `POSIXError` when the file cannot be removed, `StorageError` when the index cannot be written.
    package func remove(_ name: String, ifHolding content: Data? = nil) throws {
        do {
            try removeFile(name, ifHolding: content)
        } catch {
            guard let failure = IndexFailure(error) else { throw error }
            throw StorageError.cannotRead(url, failure)
        }
    }

    /// - Throws: `POSIXError` or an error of the index.
    func removeFile(_ name: String, ifHolding content: Data? = nil) throws {
        do {
            _ = try changing { transaction in
                if let content {
                    let row = try transaction.row(named: name)
                    guard row?.checksum == nil || row?.checksum == DiskFile.checksum(content)
                    else { return }
                }
                try transaction.delete(name)
                try transaction.folder.removeIfThere(name)
            }
        } catch is IndexUnavailable {
            guard let folder = try openFolder(validated: true) else { return }
            if let content {
                guard case .bytes(content, _) = try folder.read(name, size: content.count) else {
                    return
                }
            }
            known { $0.log.forgetRow(name) }
            try folder.removeIfThere(name)
        }
    }

    /// Removes the files of all that processors have made of `source`, those included of which only an older
    /// form of the index tells.
    ///
    /// - Returns: What was removed, with the extension that its file was forced to have, and all processors that
    ///   the index knows of.
    package func removeVariants(of source: String) throws
        -> (removed: [(processor: String, forcedExtension: String?)], processors: Set<String>)
    {
        var removed: [(processor: String, forcedExtension: String?)] = []
        var processors: Set<String> = []
        let noted = notes.key(source)
        try indexed {
            _ = try changing { transaction in
                for row in try transaction.rows() where mayOwn(row.name) {
                    guard let key = row.key else { continue }
                    let variant = FileVariant(rowKey: key, of: noted)
                    if let processor = FileVariant(rowKey: key)?.processor ?? variant?.processor {
                        processors.insert(processor)
                    }
                    // Secrets of other sources may have been left out of the same text.
                    guard let processor = variant?.processor,
                        let ext = forcedExtension(of: row.name, forKey: "\(source)@\(processor)")
                    else { continue }
                    removed.append((processor, ext))
                    try delete(row.name, in: transaction)
                }
            }
        }
        return (removed, processors)
    }

    /// The extension that a file was forced to have; `nil` when it is not that of the key.
    private func forcedExtension(of name: String, forKey key: String) -> String?? {
        if name == fileName(forKey: key) { return .some(nil) }
        let base = fileName(forKey: key, forcedExtension: "")
        guard name.hasPrefix(base), case let ext = String(name.dropFirst(base.count)), !ext.isEmpty,
            name == fileName(forKey: key, forcedExtension: ext)
        else { return nil }
        return .some(ext)
    }

    /// Removes the files used longest ago until at most `limit` bytes remain; returns their names.
    func evict(
        downTo limit: Int, keeping kept: String? = nil, in transaction: IndexTransaction
    ) throws -> [String] {
        let files = try transaction.filesToEvict(downTo: limit) { $0 != kept && mayOwn($0) }
        for file in files { try delete(file.name, in: transaction) }
        known { $0.evictionCount += files.count }
        return files.map(\.name)
    }

    func delete(_ name: String, in transaction: IndexTransaction) throws {
        try transaction.delete(name)
        transaction.folder.remove(name)
    }

    /// Removes all files of the cache, also those without a row and those that were being written, and
    /// the index with all that is in it; returns the removed files. Folders in the folder stay, and so do files of
    /// others, unless files are named by their keys.
    /// - Throws: `FilesNotRemoved` when some could not be removed; `StorageError`.
    package func removeAll() throws -> [DiskStorage.Removal] {
        try makeFolder()
        return try indexed { try removeEverything() }
    }

    private func removeEverything() throws -> [DiskStorage.Removal] {
        guard let folder = try openFolder(validated: true) else { return [] }
        defer {
            known {
                $0.log = IndexLog()
                $0.mirror = IndexMirror()
            }
        }
        let removed: Removals?
        do {
            // Nobody stores meanwhile: a transaction that waits for this one finds its index gone.
            removed = try withIndex(validated: true) { index in
                try index.write { _ in
                    defer { DiskIndex.removeFiles(in: index.folder) }
                    return removeFiles(in: index.folder)
                }
            }
        } catch  where error is IndexUnavailable || error is DatabaseError {
            // It goes all the same.
            removed = nil
        }
        known { $0.index = nil }
        if let removed { return try removed.get(path) }
        let files = removeFiles(in: folder)
        do {
            try DiskIndex.clearWay(in: folder, at: path, patience: patience)
        } catch {
            // Files that stay say more than their index does.
            _ = try files.get(path)
            throw error
        }
        return try files.get(path)
    }

    private struct Removals {
        var removed: [DiskStorage.Removal] = []
        var failures = 0
        var error: Int32 = 0

        mutating func noteFailure() {
            if failures == 0 { error = errno }
            failures += 1
        }

        func get(_ path: String) throws(FilesNotRemoved) -> [DiskStorage.Removal] {
            guard failures > 0 else { return removed }
            throw FilesNotRemoved(count: failures, folder: path, errorNumber: error)
        }
    }

    private func removeFiles(in folder: CacheFolder) -> Removals {
        var result = Removals()
        guard let visible = folder.names(hidden: false) else {
            result.noteFailure()
            return result
        }
        let remains = (folder.names(hidden: true) ?? []).filter(TemporaryFile.isName)
        for name in visible.filter(mayOwn) + remains {
            let file = folder.metadata(name)
            if folder.remove(name) {
                let size = file?.isRegular == true ? file?.size ?? 0 : 0
                result.removed.append(DiskStorage.Removal(fileName: name, size: size))
            } else if file?.isFolder == true {
                folder.clearWay(name)
            } else if errno != ENOENT {
                result.noteFailure()
            }
        }
        return result
    }

    /// Removes files that are expired now, or at `date`, all files when the store was not used for long
    /// enough, and the remains of crashes; returns the removed files.
    package func removeExpired(at date: Date? = nil) throws -> [URL] {
        let reference = date ?? now()
        let removed: [String]? = try indexed {
            try withIndex(validated: true) { index in
                let unused = try wipeIfUnused(index)
                return try index.write { transaction in
                    try applyAccesses(transaction)
                    try transaction.check()
                    let expired = try transaction.expired(at: reference).map(\.name).filter(mayOwn)
                    for name in expired { try delete(name, in: transaction) }
                    let strays = try removeStrays(at: max(now(), reference), in: transaction)
                    return unused + expired + strays
                }
            }
        }
        return removed?.map(url(of:)) ?? []
    }

    /// Removes files without rows, rows without files and old temporary files; returns the names of
    /// the files without rows.
    private func removeStrays(
        at date: Date, in transaction: IndexTransaction
    ) throws -> [String] {
        let folder = transaction.folder
        let time = date.timeIntervalSince1970
        for name in folder.names(hidden: true) ?? [] where TemporaryFile.isName(name) {
            guard let file = folder.metadata(name), file.changed + Self.temporaryAge <= time else {
                continue
            }
            folder.remove(name)
        }
        let rows = Set(try transaction.rows().map(\.name))
        guard let names = folder.names(hidden: false) else { return [] }
        for name in rows.subtracting(names) { try transaction.delete(name) }
        var removed: [String] = []
        for name in names where !rows.contains(name) && mayOwn(name) {
            guard let file = folder.metadata(name), file.changed + Self.strayAge <= time,
                folder.remove(name)
            else { continue }
            removed.append(name)
        }
        return removed
    }

    /// When the files have the size limit or more, removes those used longest ago until they have at
    /// most half of it; returns the removed files.
    package func removeExceeding() throws -> [URL] {
        guard let limit = config.effectiveSizeLimit else { return [] }
        let removed: [String]? = try indexed {
            try changing { transaction in
                guard try transaction.totalSize() >= limit else { return [] }
                return try evict(downTo: limit / 2, in: transaction)
            }
        }
        return removed?.map(url(of:)) ?? []
    }

    /// Removes all files when none was used for long enough; returns their names.
    func wipeIfUnused(_ index: DiskIndex) throws -> [String] {
        let policy = known { $0.unused }
        guard policy.limit != nil else { return [] }
        return try index.write { transaction in
            try applyAccesses(transaction)
            guard let last = try transaction.lastAccess(),
                policy.isUnused(lastAccess: last, at: now())
            else { return [] }
            let names = try transaction.rows().map(\.name).filter(mayOwn)
            for name in names { try delete(name, in: transaction) }
            try transaction.deleteAllResponses()
            return names
        }
    }
}

extension CacheFolder {
    fileprivate func removeIfThere(_ name: String) throws(POSIXError) {
        guard remove(name) || errno == ENOENT else { throw .current }
    }
}

/// Files of a cache that could not be removed, on a disk that is read-only for example.
package struct FilesNotRemoved: Error, Equatable, CustomStringConvertible {
    package let count: Int
    package let folder: String
    package let errorNumber: Int32

    package var description: String {
        let files = count == 1 ? "A file" : "\(count) files"
        return
            "\(files) in \(folder) could not be removed: \(String(cString: strerror(errorNumber)))"
    }
}
