package import Foundation
import Glibc

extension CacheDirectory {
    /// The file to be stored for a key, with the lifetime `expiration` or the config's; `nil` when
    /// it would be expired already. Then `bytes` is not called.
    ///
    /// The file is stored together with its derivation, where known, and with the response if that
    /// is new. A file of a response that has been replaced by one with other content is not stored,
    /// which is no error.
    /// - Throws: `StorageError.notReady`, or what `bytes` throws.
    package func newFile(
        _ name: String, forKey key: String, expiration: StorageExpiration?, overwriting: Bool,
        derivation: Derivation? = nil, response: ResponsePut? = nil, variant: FileVariant? = nil,
        bytes: () throws -> Data
    ) throws -> NewFile? {
        let config = config
        if !known({ $0.isReady }) {
            do {
                try prepare()
            } catch {
                // Reported as a storage error: the storage cannot be used.
                throw StorageError.notReady(folder: url)
            }
        }
        let date = now()
        let expiration = expiration ?? config.expiration
        guard !expiration.isExpired(at: date) else { return nil }
        return NewFile(
            name: name, key: key, bytes: try bytes(),
            expires: expiration.estimatedExpirationSince(date),
            limit: config.effectiveSizeLimit, overwriting: overwriting, derivation: derivation,
            response: response, variant: variant)
    }

    /// Writes a file, and evicts others until the folder is within its size limit. It appears
    /// atomically. A file above the limit on its own is not kept.
    /// - Throws: `StorageError.cannotWrite`; then there is no file of that name, or the former one.
    package func store(_ file: NewFile) throws(StorageError) {
        do {
            try write(file)
        } catch {
            throw notWritten(file, error)
        }
    }

    private func write(_ file: NewFile) throws {
        if try isRefused(file) { return }
        do {
            try storeOnce(file)
        } catch let error as POSIXError where error.code == .ENOENT {
            // The folder has gone, or another one has taken its place.
            try prepare()
            _ = try openFolder(validated: true)
            try storeOnce(file)
        }
    }

    /// Stores `file` and calls `completion`, possibly after returning: the rows of files stored at
    /// the same time are written together. The file may have been announced.
    package func store(
        _ file: NewFile, completion: @escaping @Sendable (Result<Void, StorageError>) -> Void
    ) {
        let finish: @Sendable (Result<Void, any Error>) -> Void = { result in
            completion(result.mapError { self.notWritten(file, $0) })
        }
        do {
            if try isRefused(file) {
                passOver()
                return finish(.success(()))
            }
            let written = try writeTemporary(file, completion: finish)
            if known({ $0.batch.add(written) }) { settleBatch() }
        } catch {
            passOver()
            // The folder may be missing; `write` creates it again.
            finish(Result { try write(file) })
        }
    }

    /// Announces a file that will be stored with a completion, or passed over; see `StoreBatch`.
    package func announce(byteCount: Int) {
        known { $0.batch.announce(byteCount: byteCount) }
    }

    /// Withdraws an announced file, which will not be stored.
    package func passOver() {
        if known({ $0.batch.passOver() }) { settleBatch() }
    }

    private func notWritten(_ file: NewFile, _ error: any Error) -> StorageError {
        .cannotWrite(
            file: url(of: file.name), key: file.key, bytes: file.bytes, IndexFailure(error) ?? error
        )
    }

    private func settleBatch() {
        while case let files = known({ $0.batch.take() }), !files.isEmpty {
            for (written, result) in zip(files, settle(files)) {
                guard case .failure(let error as POSIXError) = result, error.code == .ENOENT else {
                    written.completion(result)
                    continue
                }
                written.completion(Result { try write(written.file) })
            }
        }
    }

    /// Whether a file is too large to be kept; a former file of its name is removed then.
    private func isRefused(_ file: NewFile) throws -> Bool {
        guard let limit = file.limit, file.bytes.count > limit else { return false }
        try removeFile(file.name)
        return true
    }

    private func storeOnce(_ file: NewFile) throws {
        for result in settle([try writeTemporary(file) { _ in }]) { try result.get() }
    }

    private func writeTemporary(
        _ file: NewFile, completion: @escaping @Sendable (Result<Void, any Error>) -> Void
    ) throws -> WrittenFile {
        guard let folder = try openFolder(validated: false) else { throw POSIXError(.ENOENT) }
        let temporary = TemporaryFile.newName()
        // Without the index a file counts as having the default lifetime.
        let isShortLived = file.expires < adoptedExpiration.estimatedExpirationSince(now())
        let stamp = try folder.create(
            temporary, bytes: file.bytes,
            expires: isShortLived ? file.expires.timeIntervalSince1970 : nil)
        let row = IndexRow(
            name: file.name, key: notes.rowKey(of: file), size: file.bytes.count,
            checksum: DiskFile.checksum(file.bytes), expires: file.expires.timeIntervalSince1970,
            accessed: now().timeIntervalSince1970, format: notes.format(file.bytes))
        return WrittenFile(
            file: file, row: row, temporary: temporary, stamp: stamp, completion: completion)
    }

    /// The open folder; `nil` when there is none.
    private var currentFolder: CacheFolder? {
        // A folder that cannot be opened counts as none.
        try? openFolder(validated: false)
    }

    /// Gives files their names and rows, in one transaction. A file that cannot get its name fails
    /// alone; when the index fails, all do.
    private func settle(_ files: [WrittenFile]) -> [Result<Void, any Error>] {
        var failures: [Int: any Error] = [:]
        var renamed: Set<Int> = []
        var overtaken: Set<Int> = []
        var derivations: [Int: Derivation] = [:]
        // When a damaged index is replaced, all this is done once more.
        func rename(_ number: Int, in folder: CacheFolder) -> Bool {
            if renamed.contains(number) { return true }
            if failures[number] != nil { return false }
            do {
                let written = files[number]
                try folder.rename(
                    written.temporary, to: written.row.name, overwriting: written.file.overwriting)
                renamed.insert(number)
                return true
            } catch {
                failures[number] = error
                return false
            }
        }
        do {
            let settled: Void? = try changing { transaction in
                (overtaken, derivations) = ([], [:])
                for (number, written) in files.enumerated() {
                    guard try renamed.contains(number) || admits(written.file, in: transaction)
                    else {
                        overtaken.insert(number)
                        continue
                    }
                    guard rename(number, in: transaction.folder) else { continue }
                    try transaction.upsert(written.row)
                    derivations[number] = try link(written, in: transaction)
                    guard let limit = written.file.limit else { continue }
                    _ = try evict(downTo: limit, keeping: written.row.name, in: transaction)
                }
            }
            if settled == nil { throw POSIXError(.ENOENT) }
        } catch is IndexUnavailable {
            (overtaken, derivations) = ([], [:])
            // A file renamed without the index gets its row when the index can be written.
            if let folder = currentFolder {
                for (number, written) in files.enumerated() where rename(number, in: folder) {
                    if known({ $0.log.note(written.row) }) { planFlush() }
                }
            } else {
                for number in files.indices { failures[number] = POSIXError(.ENOENT) }
            }
        } catch {
            for number in files.indices where failures[number] == nil { failures[number] = error }
        }
        return files.enumerated().map { number, written in
            if let error = failures[number] {
                // A file without a written row does not count.
                currentFolder?.remove(
                    renamed.contains(number) ? written.row.name : written.temporary)
                return .failure(error)
            }
            if overtaken.contains(number) {
                currentFolder?.remove(written.temporary)
                return .success(())
            }
            let entry = IndexMirror.Entry(
                row: written.row, stamp: written.stamp, derivation: derivations[number])
            known { $0.mirror.set(entry, of: entry.row.name) }
            return .success(())
        }
    }
}

/// Written files that wait for their names and rows.
///
/// A transaction of the index costs more than the row in it. So the writer that finishes last
/// settles all waiting files, again and again until there are none; the others have nothing more to
/// do. Only decides. Not a `WorkTable`: the files differ, and share nothing but a transaction.
struct StoreBatch {
    /// The most files of one transaction, which keeps other processes waiting.
    static let capacity = 64
    /// The most bytes of a file worth waiting for: on a slow disk a large one takes too long.
    static let mostAwaitedBytes = 1 << 20

    private var waiting: [WrittenFile] = []
    /// The number of files that will be added or passed over.
    private var announced = 0
    private var isSettling = false

    /// Announces a file of this size: files written meanwhile wait for it, unless it is large.
    mutating func announce(byteCount: Int) {
        if byteCount <= Self.mostAwaitedBytes { announced += 1 }
    }

    /// Adds a file; `true` when the caller has to settle the waiting files.
    mutating func add(_ file: WrittenFile) -> Bool {
        waiting.append(file)
        return passOver()
    }

    /// Withdraws an announced file; `true` when the caller has to settle the waiting files.
    mutating func passOver() -> Bool {
        // Unannounced files only shorten the wait of the others.
        announced = max(0, announced - 1)
        guard !isSettling, !waiting.isEmpty, announced == 0 || waiting.count >= Self.capacity else {
            return false
        }
        isSettling = true
        return true
    }

    /// The files to settle next, in the order they came; with none, the settling is over.
    mutating func take() -> [WrittenFile] {
        let files = Array(waiting.prefix(Self.capacity))
        waiting.removeFirst(files.count)
        if files.isEmpty { isSettling = false }
        return files
    }
}

struct WrittenFile: Sendable {
    let file: NewFile
    let row: IndexRow
    let temporary: String
    let stamp: DiskFile.Stamp
    /// Called once, when the file is in its place with its row, or has failed.
    let completion: @Sendable (Result<Void, any Error>) -> Void
}

package struct NewFile: Sendable {
    let name: String
    let key: String
    let bytes: Data
    let expires: Date
    /// The limit in bytes of all files including this one; `nil` for none.
    let limit: Int?
    let overwriting: Bool
    var derivation: Derivation?
    /// The response that `derivation` names, when it is new.
    var response: ResponsePut?
    /// The variant of the image; `nil` when it is not known, or when nothing was processed.
    var variant: FileVariant?
}

/// The image that a processor has made of a source.
///
/// A row separates the two, which a key does not: `@` may occur in either.
package struct FileVariant: Sendable, Equatable {
    package let source: String
    package let processor: String

    /// A character that occurs in no key.
    private static let separator: Character = "\u{1F}"
    /// The prefix that separates the two in rows without a separator, written by former versions.
    private static let builtIn = "com.onevcat.Kingfisher."

    package init(source: String, processor: String) {
        self.source = source
        self.processor = processor
    }

    init?(rowKey: String) {
        guard let end = rowKey.firstIndex(of: Self.separator) else { return nil }
        source = String(rowKey[..<end])
        processor = String(rowKey[rowKey.index(after: end)...])
    }

    /// The variant of a source in a row's key; `nil` when it has none.
    init?(rowKey: String, of source: String) {
        if let variant = Self(rowKey: rowKey) {
            guard variant.source == source else { return nil }
            self = variant
            return
        }
        guard rowKey.hasPrefix("\(source)@\(Self.builtIn)") else { return nil }
        self.source = source
        processor = String(rowKey.dropFirst(source.count + 1))
    }

    var rowKey: String { "\(source)\(Self.separator)\(processor)" }

    /// A row's key in the form of the public API.
    static func text(_ rowKey: String) -> String {
        Self(rowKey: rowKey).map { "\($0.source)@\($0.processor)" } ?? rowKey
    }
}
