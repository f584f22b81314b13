package import Foundation
import GRDB
import HalcyonWork

extension CacheDirectory {
    /// Reads the bytes of a key's file with `read`; `nil` when the file is missing or expired.
    package func value<T>(
        of name: String, forKey key: String, extending: ExpirationExtending,
        _ read: (Data) throws -> T
    ) throws(StorageError) -> T? {
        guard known({ $0.isReady }) else { throw .notReady(folder: url) }
        do {
            guard let found = try entry(name, at: now(), reading: true), let bytes = found.bytes
            else { return nil }
            let value = try read(bytes)
            let use = now()
            known { $0.unused.noteUse(at: use) }
            noteAccess(found.row, extending: extending)
            return value
        } catch {
            // A file in a folder that may not be entered is a miss.
            guard !DiskFile.isUnreachable(path + "/.") else { return nil }
            if error is DatabaseError, let failure = IndexFailure(error) {
                throw .cannotReadRow(key: key, file: url(of: name), failure)
            }
            throw .cannotRead(url(of: name), error)
        }
    }

    /// Whether there is a file that is not expired now, or at `date`. A file that cannot be reached
    /// counts as missing.
    package func contains(_ name: String, at date: Date? = nil) -> Bool {
        guard known({ $0.isReady }) else { return false }
        do {
            return try entry(name, at: date ?? now(), reading: false) != nil
        } catch {
            return false
        }
    }

    /// A cached file.
    private struct Entry {
        let row: IndexRow
        /// The bytes; `nil` for a mere check of existence.
        let bytes: Data?
    }

    /// The file `name` unless it is missing, damaged or expired at `reference`.
    /// - Throws: `POSIXError` when the file cannot be read; an error of the index.
    private func entry(_ name: String, at reference: Date, reading: Bool) throws -> Entry? {
        countUse()
        if let mirrored = known({ $0.mirror.entry(name) }) {
            if reading, let entry = try entry(of: mirrored, at: reference) { return entry }
        } else if DiskFile.isMissing(path(of: name)) {
            // Whatever the index says. Most misses are files that never existed: asking the file
            // system takes a tenth of the time of a query.
            return nil
        }
        do {
            return try indexedEntry(name, at: reference, reading: reading)
        } catch is IndexUnavailable {
            return try entryWithoutIndex(name, at: reference, reading: reading)
        }
    }

    private func indexedEntry(_ name: String, at reference: Date, reading: Bool) throws -> Entry? {
        guard let found = try look(name, at: reference, reading: reading, validated: false) else {
            return nil
        }
        switch found {
        case .entry(let entry): return entry
        case .expired: return nil
        case .noRow:
            // Another process may have replaced the index; otherwise this is a miss.
            let again = try look(name, at: reference, reading: reading, validated: true)
            if case .entry(let entry) = again { return entry }
            if case .doubtful = again { return try settle(name, at: reference, reading: reading) }
            return nil
        case .doubtful:
            return try settle(name, at: reference, reading: reading)
        }
    }

    private enum Finding {
        case entry(Entry)
        case expired
        case noRow
        /// The row and the file do not match: damaged, or just being replaced.
        case doubtful
    }

    /// A file found by the mirrored row; `nil` when the index has to be asked.
    private func entry(of mirrored: IndexMirror.Entry, at reference: Date) throws -> Entry? {
        let row = mirrored.row
        if row.expires > reference.timeIntervalSince1970,
            let folder = try openFolder(validated: false),
            case .bytes(let bytes, let stamp) = try folder.read(row.name, size: row.size),
            stamp == mirrored.stamp, DiskFile.checksum(bytes) == row.checksum
        {
            return Entry(row: row, bytes: bytes)
        }
        known { $0.mirror.set(nil, of: row.name) }
        return nil
    }

    /// A file found while the index is unavailable. Files get their names when they are complete,
    /// and a file stored by another process expires like an adopted one.
    private func entryWithoutIndex(
        _ name: String, at reference: Date, reading: Bool
    ) throws -> Entry? {
        guard let folder = try openFolder(validated: true) else { return nil }
        if let row = known({ $0.unwritten.row(name) }) {
            let found = try finding(of: row, in: folder, at: reference, reading: reading)
            guard case .entry(let entry) = found else { return nil }
            return entry
        }
        guard let file = folder.metadata(name), file.isRegular else { return nil }
        let row = adoptedRow(name, file, in: folder)
        guard row.expires > reference.timeIntervalSince1970 else { return nil }
        guard reading else { return Entry(row: row, bytes: nil) }
        guard case .bytes(let bytes, _) = try folder.read(name, size: file.size) else {
            return nil
        }
        return Entry(row: row, bytes: bytes)
    }

    private func look(
        _ name: String, at reference: Date, reading: Bool, validated: Bool
    ) throws -> Finding? {
        try withIndex(validated: validated) { index in
            let row = try known { $0.unwritten.row(name) } ?? index.row(named: name)
            return try finding(of: row, in: index.folder, at: reference, reading: reading)
        }
    }

    private func finding(
        of written: IndexRow?, in folder: CacheFolder, at reference: Date, reading: Bool
    ) throws -> Finding {
        guard let written else { return .noRow }
        // With the accesses that are not written yet.
        var row = known { $0.accesses.applied(to: written) }
        guard row.expires > reference.timeIntervalSince1970 else { return .expired }
        guard reading else {
            guard let metadata = folder.metadata(row.name), metadata.isRegular,
                metadata.size == row.size
            else { return .doubtful }
            return .entry(Entry(row: row, bytes: nil))
        }
        guard case .bytes(let bytes, let stamp) = try folder.read(row.name, size: row.size) else {
            return .doubtful
        }
        let checksum = DiskFile.checksum(bytes)
        if row.checksum == nil {
            row.checksum = checksum
            complete(row, bytes: bytes)
        }
        guard row.checksum == checksum else { return .doubtful }
        let mirrored = IndexMirror.Entry(row: row, stamp: stamp)
        known { $0.mirror.set(mirrored, of: mirrored.row.name) }
        return .entry(Entry(row: row, bytes: bytes))
    }

    /// Looks again under the writers' lock, and removes a damaged file.
    private func settle(_ name: String, at reference: Date, reading: Bool) throws -> Entry? {
        do {
            return try changing { transaction, folder -> Entry? in
                let row = try transaction.row(named: name)
                switch try finding(of: row, in: folder, at: reference, reading: reading) {
                case .entry(let entry): return entry
                case .expired, .noRow: return nil
                case .doubtful:
                    try delete(name, in: transaction, of: folder)
                    return nil
                }
            } ?? nil
        } catch  where error is DatabaseError || error is IndexUnavailable {
            // On a full disk the row cannot be removed; it is a miss all the same.
            return nil
        }
    }

    private func complete(_ row: IndexRow, bytes: Data) {
        guard let checksum = row.checksum else { return }
        let format = notes.format(bytes)
        DiskLane.writing.submit { [weak self] in
            // Without the checksum the file is as good as before.
            _ = try? self?.withIndex(validated: true) { index in
                try index.write {
                    try $0.complete(row.name, checksum: checksum, format: format)
                }
            }
        }
    }

    // MARK: All files

    /// All files, including expired ones, the last used first.
    package func entries() throws -> [DiskStorage.Entry] {
        try asking { index in
            flushAccesses()
            return try index.rows().map(DiskStorage.Entry.init)
        } without: { rows in
            rows.sorted { $0.accessed > $1.accessed }.map(DiskStorage.Entry.init)
        } ?? []
    }

    /// The total bytes of all files. Takes constant time.
    package func totalSize() throws -> UInt {
        let bytes: Int? = try asking {
            try $0.totalSize()
        } without: {
            $0.reduce(0) { $0 + $1.size }
        }
        return UInt(max(0, bytes ?? 0))
    }

    /// The number of files and their total bytes.
    package func usage() throws -> (files: Int, bytes: Int) {
        try asking {
            try $0.usage()
        } without: { rows in
            (files: rows.count, bytes: rows.reduce(0) { $0 + $1.size })
        } ?? (0, 0)
    }

    /// Runs `body` with the index, or without one runs `without` with rows adopted from the folder;
    /// `nil` when there is no folder.
    private func asking<T>(
        _ body: (DiskIndex) throws -> T, without: ([IndexRow]) -> T
    ) throws -> T? {
        try indexed {
            do {
                return try withIndex(validated: true, body)
            } catch is IndexUnavailable {
                return try openFolder(validated: true).map { without(try adoptedRows(in: $0)) }
            }
        }
    }
}
