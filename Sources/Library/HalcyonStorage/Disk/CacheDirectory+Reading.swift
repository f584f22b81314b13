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
        return (try? entry(name, at: date ?? now(), reading: false)) != nil
    }

    private struct Entry {
        let row: IndexRow
        /// The bytes; `nil` for a mere check of existence.
        let bytes: Data?
    }

    /// The file `name` unless it is missing, damaged or expired at `reference`.
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
        for validated in [false, true] {
            let found = try withIndex(validated: validated) { index in
                let row = try known { $0.log.rows[name] } ?? index.read { try $0.row(named: name) }
                return try finding(of: row, in: index.folder, at: reference, reading: reading)
            }
            switch found {
            case .entry(let entry)?: return entry
            case .expired?, nil: return nil
            case .doubtful?: return try settle(name, at: reference, reading: reading)
            // Another process may have replaced the index; otherwise this is a miss.
            case .noRow?: continue
            }
        }
        return nil
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
        if let row = known({ $0.log.rows[name] }) {
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

    private func finding(
        of written: IndexRow?, in folder: CacheFolder, at reference: Date, reading: Bool
    ) throws -> Finding {
        guard let written else { return .noRow }
        // With the accesses that are not written yet.
        var row = known { $0.log.applied(to: written) }
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
            return try changing { transaction -> Entry? in
                let row = try transaction.row(named: name)
                let folder = transaction.folder
                switch try finding(of: row, in: folder, at: reference, reading: reading) {
                case .entry(let entry): return entry
                case .expired, .noRow: return nil
                case .doubtful:
                    try delete(name, in: transaction)
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
            _ = try? self?.writing { transaction in
                try transaction.complete(row.name, checksum: checksum, format: format)
            }
        }
    }

    // MARK: All files

    /// All files, including expired ones, the last used first.
    package func entries() throws -> [DiskStorage.Entry] {
        flushAccesses()
        return try asking {
            try $0.rows().map(DiskStorage.Entry.init)
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

    package func usage() throws -> (files: Int, bytes: Int) {
        try asking {
            (files: try $0.count("FROM files"), bytes: try $0.totalSize())
        } without: { rows in
            (files: rows.count, bytes: rows.reduce(0) { $0 + $1.size })
        } ?? (0, 0)
    }

    /// Runs `body` with the index, or without one runs `without` with rows adopted from the folder;
    /// `nil` when there is no folder.
    private func asking<T>(
        _ body: (IndexTransaction) throws -> T, without: ([IndexRow]) -> T
    ) throws -> T? {
        try indexed {
            do {
                return try reading(body)
            } catch is IndexUnavailable {
                return try openFolder(validated: true).map { without(try adoptedRows(in: $0)) }
            }
        }
    }
}

/// Knowledge of this process that the index lacks so far: accesses, since writing each at once would
/// make each hit a write, and rows of files that were stored while the index was unavailable.
struct IndexLog {
    struct Access: Sendable {
        /// The time of the access; seconds since 1970.
        var accessed: Double
        /// The file's new expiration; seconds since 1970.
        var expires: Double
    }

    /// The number of accesses after which the log should be written.
    static let capacity = 256
    /// The largest number of rows; further ones are dropped, and their files are misses.
    private static let rowLimit = 4096

    struct ResponseID: Hashable, Sendable {
        let key: String
        let variant: Data
    }

    private(set) var accesses: [String: Access] = [:]
    /// The last uses of responses; seconds since 1970.
    private(set) var responses: [ResponseID: Double] = [:]
    private(set) var rows: [String: IndexRow] = [:]

    private var isWithoutAccesses: Bool { accesses.isEmpty && responses.isEmpty }
    var isEmpty: Bool { isWithoutAccesses && rows.isEmpty }
    var isFull: Bool { accesses.count + responses.count >= Self.capacity }

    /// Notes an access and returns whether it is the first one in the log.
    mutating func note(_ access: Access, of name: String) -> Bool {
        let isFirst = isWithoutAccesses
        accesses[name] = access
        return isFirst
    }

    /// Notes the use of a response and returns whether it is the first access in the log.
    mutating func note(_ use: Double, of response: ResponseID) -> Bool {
        let isFirst = isWithoutAccesses
        responses[response] = use
        return isFirst
    }

    /// Notes a row and returns whether it is the first one.
    mutating func note(_ row: IndexRow) -> Bool {
        let isFirst = rows.isEmpty
        if rows.count < Self.rowLimit || rows[row.name] != nil { rows[row.name] = row }
        return isFirst
    }

    mutating func forgetRow(_ name: String) {
        rows[name] = nil
    }

    /// The row as it will be once the log is written.
    func applied(to row: IndexRow) -> IndexRow {
        guard let access = accesses[row.name], access.accessed > row.accessed else { return row }
        var row = row
        row.accessed = access.accessed
        row.expires = access.expires
        return row
    }

    mutating func take() -> IndexLog {
        defer { self = IndexLog() }
        return self
    }
}

/// Rows of recently read files, so that reading them again needs no query.
///
/// A row is valid only for the very file it was read for: any process that stores, replaces or
/// removes a file makes it another one. Damage is found by the checksum in the row.
struct IndexMirror {
    struct Entry: Sendable {
        var row: IndexRow
        let stamp: DiskFile.Stamp
        /// The derivation of the file, if known: it is valid for bytes of the row's checksum, even
        /// if the response changes.
        var derivation: Derivation?
    }

    /// The number of recent entries after which the former ones are dropped.
    private static let generation = 2048

    private var recent: [String: Entry] = [:]
    /// Formerly recent entries that have not been used since.
    private var former: [String: Entry] = [:]

    /// Returns the entry of a file and marks it as recent.
    mutating func entry(_ name: String) -> Entry? {
        if let entry = recent[name] { return entry }
        guard let entry = former[name] else { return nil }
        set(entry, of: name)
        return entry
    }

    mutating func set(_ entry: Entry?, of name: String) {
        former[name] = nil
        recent[name] = entry
        if recent.count >= Self.generation {
            former = recent
            recent = [:]
        }
    }

    mutating func note(_ derivation: Derivation?, of name: String, checksum: Int64?) {
        guard var entry = entry(name), entry.row.checksum == checksum else { return }
        entry.derivation = derivation
        set(entry, of: name)
    }

    mutating func note(_ access: IndexLog.Access, of name: String) {
        guard var entry = entry(name) else { return }
        entry.row.accessed = access.accessed
        entry.row.expires = access.expires
        set(entry, of: name)
    }
}

/// Decides whether a cache folder has been unused for so long that its files are removed.
struct UnusedPolicy {
    /// Seconds without use; `nil` for no limit.
    private(set) var limit: TimeInterval?
    /// The last use by this process, which the index may not have yet.
    private var lastUse = Date.distantPast
    private var needsCheck = false

    /// Sets the limit; a new one has to be checked once before the files are used.
    mutating func setLimit(_ limit: TimeInterval?) {
        guard limit != self.limit else { return }
        self.limit = limit
        needsCheck = limit != nil
    }

    mutating func noteUse(at date: Date) {
        lastUse = max(lastUse, date)
    }

    /// Whether a check is due; resets the flag.
    mutating func takeCheck() -> Bool {
        defer { needsCheck = false }
        return needsCheck
    }

    /// Whether the limit is over at `date`, given the index's last access in seconds since 1970.
    func isUnused(lastAccess: Double, at date: Date) -> Bool {
        guard let limit else { return false }
        let last = max(Date(timeIntervalSince1970: lastAccess), lastUse)
        return date.timeIntervalSince(last) > limit
    }
}
