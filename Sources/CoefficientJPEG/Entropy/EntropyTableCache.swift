import Synchronization

/// Keeps the tables of the last few definitions: most files have those of the standard's Annex K, and
/// making them takes longer than decoding a small picture.
final class EntropyTableCache: Sendable {
    static let shared = EntropyTableCache(limit: 16)

    private let limit: Int
    /// The latest used come last.
    private let tables = Mutex<[(definition: HuffmanDefinition, table: EntropyTable)]>([])

    init(limit: Int) {
        self.limit = limit
    }

    var count: Int { tables.withLock { $0.count } }

    func table(for definition: HuffmanDefinition) throws(JPEGRefusal) -> EntropyTable {
        if let known = find(definition) { return known }
        let made = try EntropyTable(definition)
        tables.withLock { tables in
            // Another thread may have been as quick; one of both is enough.
            tables.removeAll { $0.definition == definition }
            tables.append((definition, made))
            if tables.count > limit { tables.removeFirst() }
        }
        return made
    }

    private func find(_ definition: HuffmanDefinition) -> EntropyTable? {
        tables.withLock { tables in
            guard let index = tables.lastIndex(where: { $0.definition == definition }) else {
                return nil
            }
            let found = tables.remove(at: index)
            tables.append(found)
            return found.table
        }
    }
}
