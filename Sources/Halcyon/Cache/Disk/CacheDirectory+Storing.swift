import Foundation
import Glibc

extension CacheDirectory {
    /// Writes a file, and removes others until no more bytes are in the folder than its limit allows.
    /// Bytes above the limit on their own are not kept.
    /// - Throws: `POSIXError` or an error of the index; then there is no file of that name, or the
    ///   former one.
    func store(_ file: NewFile) throws {
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

    /// Does the same and calls `completion`, which may be after this has returned: the rows of files
    /// that are stored at the same time are written together. The file may have been announced.
    func store(
        _ file: NewFile, completion: @escaping @Sendable (Result<Void, any Error>) -> Void
    ) {
        do {
            if try isRefused(file) {
                passOver()
                return completion(.success(()))
            }
            let arrived = try write(file, completion: completion)
            if arrive(arrived) { settleArrivals() }
        } catch {
            passOver()
            // The folder may have gone; the other way makes it again.
            completion(Result { try store(file) })
        }
    }

    /// Says that an announced file is not going to be stored.
    func passOver() {
        if leaveOut() { settleArrivals() }
    }

    private func settleArrivals() {
        while case let files = takeArrivals(), !files.isEmpty {
            for (arrived, result) in zip(files, settle(files)) {
                guard case .failure(let error as POSIXError) = result, error.code == .ENOENT else {
                    arrived.completion(result)
                    continue
                }
                arrived.completion(Result { try store(arrived.file) })
            }
        }
    }

    /// Whether a file is too large to be kept; what had its name is removed then.
    private func isRefused(_ file: NewFile) throws -> Bool {
        guard let limit = file.limit, file.bytes.count > limit else { return false }
        try remove(file.name)
        return true
    }

    private func storeOnce(_ file: NewFile) throws {
        for result in settle([try write(file) { _ in }]) { try result.get() }
    }

    /// Writes a file under a temporary name.
    private func write(
        _ file: NewFile, completion: @escaping @Sendable (Result<Void, any Error>) -> Void
    ) throws -> ArrivedFile {
        guard let folder = try openFolder(validated: false) else { throw POSIXError(.ENOENT) }
        let temporary = TemporaryFile.newName()
        let stamp = try folder.create(temporary, bytes: file.bytes)
        let row = IndexRow(
            name: file.name, key: file.key.maskingSecrets, size: file.bytes.count,
            checksum: DiskFile.checksum(file.bytes), expires: file.expires.timeIntervalSince1970,
            accessed: now().timeIntervalSince1970, format: ImageFormat.name(of: file.bytes))
        return ArrivedFile(
            file: file, row: row, temporary: temporary, stamp: stamp, completion: completion)
    }

    /// The folder that is open; `nil` when there is none.
    private var currentFolder: CacheFolder? {
        // One that cannot be opened is none.
        try? openFolder(validated: false)
    }

    /// Gives files their names and rows, in one transaction. A file that cannot get its name fails
    /// alone; when the index fails, all do.
    private func settle(_ files: [ArrivedFile]) -> [Result<Void, any Error>] {
        var failures: [Int: any Error] = [:]
        var renamed: Set<Int> = []
        // When a damaged index is replaced, all this is done once more.
        func rename(_ number: Int, in folder: CacheFolder) -> Bool {
            if renamed.contains(number) { return true }
            if failures[number] != nil { return false }
            do {
                try files[number].rename(in: folder)
                renamed.insert(number)
                return true
            } catch {
                failures[number] = error
                return false
            }
        }
        do {
            let settled: Void? = try withIndex(validated: true) { index in
                try index.write { transaction in
                    try applyAccesses(transaction, in: index.folder)
                    for (number, arrived) in files.enumerated()
                    where rename(number, in: index.folder) {
                        try transaction.upsert(arrived.row)
                        guard let limit = arrived.file.limit else { continue }
                        _ = try evict(
                            downTo: limit, keeping: arrived.row.name, in: transaction,
                            of: index.folder)
                    }
                }
            }
            if settled == nil { throw POSIXError(.ENOENT) }
        } catch is IndexUnavailable {
            // What is renamed without the index has its row when somebody can write it.
            if let folder = currentFolder {
                for (number, arrived) in files.enumerated() where rename(number, in: folder) {
                    noteUnwritten(arrived.row)
                }
            } else {
                for number in files.indices { failures[number] = POSIXError(.ENOENT) }
            }
        } catch {
            for number in files.indices where failures[number] == nil { failures[number] = error }
        }
        return files.enumerated().map { number, arrived in
            if let error = failures[number] {
                // A file whose row was not written is none.
                currentFolder?.remove(
                    renamed.contains(number) ? arrived.row.name : arrived.temporary)
                return .failure(error)
            }
            mirror(IndexMirror.Entry(row: arrived.row, stamp: arrived.stamp), of: arrived.row.name)
            return .success(())
        }
    }
}

extension ArrivedFile {
    /// Gives the file its final name.
    fileprivate func rename(in folder: CacheFolder) throws(POSIXError) {
        try folder.rename(temporary, to: row.name, overwriting: file.overwriting)
    }
}
