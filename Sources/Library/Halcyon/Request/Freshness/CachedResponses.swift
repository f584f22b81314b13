package import Foundation
package import HalcyonHTTP
package import HalcyonStorage
import HalcyonWork
import Synchronization

/// The responses that images of a cache were made of: records in memory, rows in the index of its
/// folder. What other processes have learnt is seen when the rows are read.
final class CachedResponses: Sendable {
    private struct Weak {
        weak var record: ResponseRecord?
    }

    private let files: CacheDirectory
    /// Each variant of a key once, as far as anybody holds them.
    private let known = Mutex<[String: [Weak]]>([:])

    init(_ files: CacheDirectory) {
        self.files = files
    }

    /// The current responses under `key`, of memory and disk. Reads the index: blocks.
    func read(_ key: String, under policy: HTTPCachePolicy) -> [ResponseRecord] {
        // Held meanwhile: one whose row is written just after the rows are read, and that nobody else
        // holds from then on, would be found neither there nor here.
        let held = known.withLock { ($0[key] ?? []).compactMap(\.record) }
        // An index that cannot be read knows nothing.
        let rows = (try? files.responses(forKey: Self.rowKey(key))) ?? []
        return withExtendedLifetime(held) {
            change(key) { records in
                for row in rows where !records.contains(where: { $0.isUpToDate(with: row) }) {
                    if let stored = StoredResponse(row) {
                        learn(row, stored, key, policy, &records)
                    }
                }
                return records
            }
        }
    }

    private func learn(
        _ row: ResponseRow, _ stored: StoredResponse, _ key: String, _ policy: HTTPCachePolicy,
        _ records: inout [ResponseRecord]
    ) {
        if let index = records.firstIndex(where: { $0.stored.variant == stored.variant }) {
            let known = records[index]
            if known.stored.received > stored.received { return }
            if known.generation == row.generation {
                var stored = stored
                // An invalidation may be known here that could not be written.
                if known.stored.received == stored.received, known.stored.isInvalidated {
                    stored.isInvalidated = true
                }
                if known.stored != stored { known.freshen(stored, under: policy) }
                return
            }
            records.remove(at: index)
        }
        records.append(
            ResponseRecord(
                key: key, generation: row.generation, stored: stored, body: ResponseBody(row),
                under: policy))
    }

    /// Changes which responses are current under `key`; those that are taken out are out of use.
    private func change<R: Sendable>(
        _ key: String, _ body: (inout [ResponseRecord]) -> R
    ) -> R {
        let (result, former) = known.withLock { known in
            let former = (known[key] ?? []).compactMap(\.record).filter(\.isCurrent)
            var records = former
            let result = body(&records)
            known[key] = records.isEmpty ? nil : records.map(Weak.init)
            // Keys whose records have gone are forgotten now and then.
            if known.count > 1024, known.count.nonzeroBitCount == 1 {
                known = known.filter { $0.value.contains { $0.record != nil } }
            }
            for old in former where !records.contains(where: { $0 === old }) { old.supersede() }
            return (result, former)
        }
        // Released after the lock: what goes with a record may have a lock of its own.
        withExtendedLifetime(former) {}
        return result
    }

    /// The record of a response that has just come: that of the same bytes where there is one, which is
    /// freshened, else a new generation. Of answers that overtake each other the later one stays.
    ///
    /// - Parameter others: Those it takes the place of.
    /// - Returns: `nil` when a later answer is there already.
    func adopt(
        _ stored: StoredResponse, _ key: String, body: ResponseBody?, over others: [ResponseRecord],
        under policy: HTTPCachePolicy
    ) -> ResponseRecord? {
        change(key) { records in
            let rivals = records.filter { record in
                record.stored.variant == stored.variant || others.contains { $0 === record }
            }
            if rivals.contains(where: { !stored.isAtLeastAsNew(as: $0.stored) }) { return nil }
            let same = rivals.first {
                $0.generation != 0 && body != nil && $0.body == body
                    && $0.stored.variant == stored.variant
            }
            if let same {
                same.freshen(stored, under: policy)
                return same
            }
            records.removeAll { record in rivals.contains { $0 === record } }
            let record = ResponseRecord(
                key: key, generation: body == nil ? 0 : .random(in: 1...(.max)), stored: stored,
                body: body, under: policy)
            records.append(record)
            return record
        }
    }

    /// Forgets a response, and with it the images that were made of it. The record may be that of another
    /// cache.
    func remove(_ record: ResponseRecord) async {
        record.supersede()
        let variant = record.stored.variant
        change(record.key) { records in
            records.removeAll {
                $0.generation == record.generation && $0.stored.variant == variant
            }
        }
        await DiskLane.writing.run { [files] in
            // Images of a row that cannot be removed are misses by the next one's generation.
            try? files.removeResponse(key: record.rowKey, variant: record.variant)
        }
    }

    /// Writes what a validation has found out; returns whether the row was still about the same bytes.
    func writeFreshened(_ record: ResponseRecord, from variant: Data) async -> Bool {
        let row = record.row
        return await DiskLane.writing.run { [files] in
            // What cannot be written is asked for once more by the next process.
            (try? files.freshen(row, from: variant)) ?? true
        }
    }

    /// Notes that a response is used now, so that others make room before it.
    func noteUse(_ record: ResponseRecord) {
        files.noteUse(ofResponse: record.rowKey, variant: record.variant)
    }

    /// Writes the row of a response without a file: a redirect, or an error that is remembered.
    func writeAlone(_ record: ResponseRecord, _ put: ResponsePut) {
        DiskLane.writing.submit { [files] in
            // As above. Until it is written, the record is what is known of it.
            withExtendedLifetime(record) { try? files.put(put) }
        }
    }

    /// Has the responses validated before they are used again that `matches` holds for, by the key of
    /// their row and their URL; returns how many are on disk. Blocks.
    @discardableResult
    func invalidate(where matches: (_ key: String, _ url: String) -> Bool) throws -> Int {
        defer {
            // Also what could not be written.
            for record in known.withLock({ $0.values.flatMap { $0.compactMap(\.record) } }) {
                let url = record.stored.url.absoluteString.maskingSecrets
                if matches(record.rowKey, url) { record.invalidate() }
            }
        }
        return try files.invalidateResponses(where: matches)
    }

    /// The key of a row: one with secrets in it is kept as a digest.
    static func rowKey(_ key: String) -> String {
        let shown = key.maskingSecrets
        return shown == key ? key : "\(shown) \(Digest.sha256.hexadecimal(key))"
    }
}

extension ResponseRecord {
    /// Whether the row, which may have been written by others, says nothing new.
    fileprivate func isUpToDate(with row: ResponseRow) -> Bool {
        let stored = stored
        return generation == row.generation && Data(stored.variant) == row.variant
            && stored.received.timeIntervalSince1970 == row.received
            && stored.isInvalidated == row.isInvalidated
    }

    var row: ResponseRow {
        let stored = stored
        return ResponseRow(
            stored, key: rowKey, url: stored.url.absoluteString.maskingSecrets,
            generation: generation, bodyLength: body?.length, bodyChecksum: body?.checksum,
            freshUntil: freshUntil)
    }
}

extension ResponseRow {
    /// The row that keeps a response under a key, and says that it came from `url`.
    package init(
        _ stored: StoredResponse, key: String, url: String, generation: Int64,
        bodyLength: Int64?, bodyChecksum: Int64?, freshUntil: Date
    ) {
        self.init(
            key: key, variant: Data(stored.variant), vary: stored.vary.joined(separator: ","),
            url: url, status: stored.status,
            // A list of texts can be encoded.
            fields: (try? JSONEncoder().encode(stored.fields.maskingAddresses))
                ?? Data("[]".utf8),
            requested: stored.requested.timeIntervalSince1970,
            received: stored.received.timeIntervalSince1970, generation: generation,
            bodyLength: bodyLength, bodyChecksum: bodyChecksum,
            freshUntil: freshUntil.timeIntervalSince1970, isInvalidated: stored.isInvalidated,
            used: stored.received.timeIntervalSince1970)
    }

    /// The header fields; `nil` when they cannot be read.
    var headerFields: HTTPFields? { try? JSONDecoder().decode(HTTPFields.self, from: fields) }
}

extension HTTPFields {
    /// The fields without what is secret in the addresses that nothing is loaded from.
    fileprivate var maskingAddresses: HTTPFields {
        HTTPFields(
            lines.map { line in
                ["content-location", "link", "refresh"].contains(line.name.lowercased())
                    ? Line(name: line.name, value: line.value.maskingSecrets) : line
            })
    }
}

extension StoredResponse {
    /// Whether it is a redirect to an address with a secret in it. The index has no secrets, so it is asked
    /// for again each time.
    var leadsToSecrets: Bool {
        fields.values("Location").contains { $0.maskingSecrets != $0 }
    }

    /// `nil` when the row makes no sense.
    package init?(_ row: ResponseRow) {
        guard let url = URL(string: row.url), let fields = row.headerFields else { return nil }
        self.init(
            url: url, status: row.status, fields: fields,
            vary: row.vary.split(separator: ",").map(String.init), variant: Array(row.variant),
            requested: Date(timeIntervalSince1970: row.requested),
            received: Date(timeIntervalSince1970: row.received),
            isInvalidated: row.isInvalidated)
    }
}
