import Foundation
import GRDB

extension CacheDirectory {
    /// Seconds after which a file without a row is nobody's: until then another process may be
    /// about to write the row.
    private static let strayAge = 60.0
    /// Seconds after which a file that was being written is the remains of a crash.
    private static let temporaryAge = 600.0

    /// Bytes of all files.
    func totalSize() throws -> Int {
        do {
            return try withIndex(validated: true) { try $0.totalSize() } ?? 0
        } catch is IndexUnavailable {
            return try rowsWithoutIndex().reduce(0) { $0 + $1.size }
        }
    }

    /// What is known of all files, those used last first.
    func rows() throws -> [IndexRow] {
        do {
            return try withIndex(validated: true) { index in
                flushAccesses()
                return try index.rows()
            } ?? []
        } catch is IndexUnavailable {
            return try rowsWithoutIndex()
        }
    }

    private func rowsWithoutIndex() throws -> [IndexRow] {
        guard let folder = try openFolder(validated: true) else { return [] }
        return try adoptedRows(in: folder).sorted { $0.accessed > $1.accessed }
    }

    /// Removes all files of the cache, also those without a row and those that were being written, and
    /// the index with all that is in it. Folders and others' files stay. Returns the removed files.
    func removeAll() throws -> [RemovedFile] {
        guard let folder = try openFolder(validated: true) else { return [] }
        defer { forgetAll() }
        let known: [RemovedFile]?
        do {
            // Nobody stores meanwhile: a transaction that waits for this one finds its index gone.
            known = try withIndex(validated: true) { index in
                try index.write { _ in
                    let removed = removeFiles(in: index.folder)
                    DiskIndex.removeFiles(in: index.folder)
                    return removed
                }
            }
        } catch  where error is IndexUnavailable || error is DatabaseError {
            // It goes all the same.
            known = nil
        }
        knownIndex = nil
        if let known { return known }
        try DiskIndex.clearWay(in: folder, at: path, patience: patience)
        return removeFiles(in: folder)
    }

    private func removeFiles(in folder: CacheFolder) -> [RemovedFile] {
        let remains = (folder.names(hidden: true) ?? []).filter(TemporaryFile.isName)
        let names = (folder.names(hidden: false) ?? []).filter(mayOwn)
        return (names + remains).compactMap { name in
            let file = folder.metadata(name)
            guard folder.remove(name) else {
                if file?.isFolder == true { folder.clearWay(name) }
                return nil
            }
            return RemovedFile(name: name, size: file?.isRegular == true ? file?.size ?? 0 : 0)
        }
    }

    /// Removes the files that are expired at `reference`, all when they were not used for long enough,
    /// and what crashes have left; returns the names of the removed files.
    func removeExpired(at reference: Date) throws -> [String] {
        try withIndex(validated: true) { index in
            let unused = try wipeIfUnused(index)
            return try index.write { transaction in
                try applyAccesses(transaction, in: index.folder)
                try transaction.check()
                let expired = try transaction.expired(at: reference).map(\.name).filter(mayOwn)
                for name in expired { try delete(name, in: transaction, of: index.folder) }
                let strays = try removeStrays(
                    at: max(now(), reference), in: transaction, of: index.folder)
                return unused + expired + strays
            }
        } ?? []
    }

    /// Removes files without rows, rows without files and old temporary files; returns the names of
    /// the files without rows.
    private func removeStrays(
        at date: Date, in transaction: IndexTransaction, of folder: CacheFolder
    ) throws -> [String] {
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

    /// Unless all files together are smaller than `limit`, removes those used longest ago until at
    /// most half of it remains; returns their names.
    func removeExceeding(_ limit: Int) throws -> [String] {
        try withIndex(validated: true) { index in
            try index.write { transaction in
                try applyAccesses(transaction, in: index.folder)
                guard try transaction.totalSize() >= limit else { return [] }
                return try evict(downTo: limit / 2, in: transaction, of: index.folder)
            }
        } ?? []
    }
}

/// A file that was removed from a cache.
struct RemovedFile: Sendable {
    let name: String
    /// Bytes; 0 for a link and the like.
    let size: Int
}
