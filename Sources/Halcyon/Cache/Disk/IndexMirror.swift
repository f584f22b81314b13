/// Rows of files read lately, so that reading them again needs no query.
///
/// A row is only good for the very file it was read for: whoever stores, replaces or removes a file,
/// in whatever process, makes it another one. Damage is found by the checksum in the row.
struct IndexMirror {
    /// A row and the file it belongs to.
    struct Entry: Sendable {
        var row: IndexRow
        let stamp: DiskFile.Stamp
    }

    private var entries = CostBoundedStore<Entry>(countLimit: 4096)

    /// What is known of a file.
    mutating func entry(_ name: String) -> Entry? {
        entries.use(StoreKey(name)) { $0 }
    }

    /// Remembers a row, or forgets that of a file.
    mutating func set(_ entry: Entry?, of name: String) {
        if let entry {
            _ = entries.insert(entry, cost: 0, forKey: StoreKey(name))
        } else {
            _ = entries.removeValue(forKey: StoreKey(name))
        }
    }

    /// Keeps the row in step with an access.
    mutating func note(_ access: AccessLog.Access, of name: String) {
        _ = entries.use(StoreKey(name)) {
            $0.row.accessed = access.accessed
            $0.row.expires = access.expires
        }
    }
}
