import Foundation
import GRDB
import Glibc

extension CacheDirectory {
    /// Runs `body` with the index, and once more with a new one when that turns out to be damaged.
    /// - Parameter validated: whether to look first if the folder and the index are still those at the
    ///   path.
    /// - Returns: `nil` when there is no folder.
    /// - Throws: `IndexUnavailable` when the index cannot be used now, or what `body` throws.
    func withIndex<T>(validated: Bool, _ body: (DiskIndex) throws -> T) throws -> T? {
        do {
            guard let index = try openIndex(validated: validated) else { return nil }
            do {
                if takeUnusedCheck() {
                    // What cannot be removed now is removed by the next cleaning.
                    _ = try? wipeIfUnused(index)
                }
                return try body(index)
            } catch let error as DatabaseError where error.tellsOfDamage {
                replace(index, removing: !error.tellsOfReplacement)
                guard let index = try openIndex(validated: true) else { return nil }
                return try body(index)
            }
        } catch let error as DatabaseError where error.tellsOfLock {
            throw IndexUnavailable.locked
        }
    }

    private func openIndex(validated: Bool) throws -> DiskIndex? {
        if let index = knownIndex, !validated || isCurrent(index) { return index }
        return try opening.withLock {
            if let index = knownIndex, isCurrent(index) { return index }
            knownIndex = nil
            do {
                guard let folder = try openFolder(validated: true) else { return nil }
                let index = try DiskIndex.open(
                    in: folder, at: path, patience: patience,
                    adopting: { try adoptedRows(in: folder) })
                knownIndex = index
                return index
            } catch let error as POSIXError where error.code == .ENOENT {
                return nil
            }
        }
    }

    private func isCurrent(_ index: DiskIndex) -> Bool {
        index.isCurrent && index.folder.isAt(path)
    }

    /// Forgets an index, and removes it when it is not somebody else's by now.
    private func replace(_ index: DiskIndex, removing: Bool) {
        opening.withLock {
            if knownIndex === index { knownIndex = nil }
            guard removing else { return }
            // Without a folder there is nothing to remove, and what is locked is removed next time.
            try? index.folder.locked(patience: patience) {
                if index.isCurrent { DiskIndex.removeFiles(in: index.folder) }
            }
        }
    }

    /// Rows for the files that are there without an index: of a lost one, or of a cache that had
    /// none. Checksum and format follow when the files are read.
    /// - Throws: `POSIXError` when the folder cannot be listed now. One that may never be listed has none.
    func adoptedRows(in folder: CacheFolder) throws -> [IndexRow] {
        let date = now()
        let expires = adoptedExpiration.estimatedExpirationSince(date).timeIntervalSince1970
        guard let names = folder.names(hidden: false) else {
            if errno == EACCES { return [] }
            throw POSIXError.current
        }
        return names.compactMap { name in
            guard mayOwn(name), let file = folder.metadata(name), file.isRegular else {
                return nil
            }
            return IndexRow(
                name: name, key: nil, size: file.size, checksum: nil, expires: expires,
                accessed: min(file.modified, date.timeIntervalSince1970), format: nil)
        }
    }
}
