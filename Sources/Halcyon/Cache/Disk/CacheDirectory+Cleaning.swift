import Foundation
import Glibc

extension CacheDirectory {
    /// Seconds after which a file without a row is nobody's: until then another process may be
    /// about to write the row.
    private static let strayAge = 60.0
    /// Seconds after which a file that was being written is the remains of a crash.
    private static let temporaryAge = 600.0

    /// Bytes of all files.
    func totalSize() throws -> Int {
        try withIndex(validated: true) { try $0.totalSize() } ?? 0
    }

    /// Removes all files of the cache, also those without a row. Folders and others' files stay.
    func removeAll() throws {
        _ = try withIndex(validated: true) { index in
            try index.write { transaction in
                _ = takeAccesses()
                let rows = try transaction.names()
                try transaction.deleteAll()
                for name in DiskFile.names(in: path, hidden: false) ?? []
                where rows.contains(name) || mayOwn(name) {
                    unlink(path(of: name))
                }
            }
        }
    }

    /// Removes the files that are expired at `reference`, all when they were not used for long enough,
    /// and what crashes have left; returns the names of the removed files.
    func removeExpired(at reference: Date) throws -> [String] {
        try withIndex(validated: true) { index in
            let unused = try wipeIfUnused(index)
            return try index.write { transaction in
                try applyAccesses(transaction)
                let expired = try transaction.namesExpired(at: reference)
                for name in expired { try delete(name, in: transaction) }
                let strays = try removeStrays(at: max(now(), reference), in: transaction)
                return unused + expired + strays
            }
        } ?? []
    }

    /// Removes files without rows, rows without files and old temporary files; returns the names of
    /// the files without rows.
    private func removeStrays(
        at date: Date, in transaction: IndexTransaction
    ) throws -> [String] {
        let time = date.timeIntervalSince1970
        for name in DiskFile.names(in: path, hidden: true) ?? []
        where name.hasPrefix(TemporaryFile.prefix) {
            guard let file = DiskFile.metadata(path(of: name)), file.isRegular,
                file.changed + Self.temporaryAge <= time
            else { continue }
            unlink(path(of: name))
        }
        let rows = try transaction.names()
        guard let names = DiskFile.names(in: path, hidden: false) else { return [] }
        for name in rows.subtracting(names) { try transaction.delete(name) }
        var removed: [String] = []
        for name in names where !rows.contains(name) && mayOwn(name) {
            guard let file = DiskFile.metadata(path(of: name)), file.isRegular,
                file.changed + Self.strayAge <= time, unlink(path(of: name)) == 0
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
                try applyAccesses(transaction)
                guard try transaction.totalSize() >= limit else { return [] }
                return try evict(downTo: limit / 2, in: transaction)
            }
        } ?? []
    }
}
