import CStorage
package import Foundation
package import HalcyonWork

/// The file of one download in a ``PartialFiles``: its content, and appended bytes.
///
/// It is locked against other writers from when it is found or begun until it is closed or removed;
/// a second writer gets nothing and keeps nothing. Its operations run one after the other on the
/// threads of the disk, also those of another object for the same key.
package final class PartialFile: @unchecked Sendable {
    // Unchecked: `state` is used by the operations of the file alone, one after the other.

    package struct Content: Sendable {
        package let bytes: Data
        package let description: String
    }

    enum State {
        /// The file has not been looked up, or does not exist.
        case open
        case held(HeldFile)
        /// Nothing more is written: another writer holds the file, it cannot be used, or it is
        /// finished.
        case closed
    }

    private let name: String
    private let files: PartialFiles
    private var state = State.open

    init(_ name: String, of files: PartialFiles) {
        self.name = name
        self.files = files
    }

    /// Locks an existing file and reads it. A file that contradicts its row is removed.
    package func content() async -> Content? {
        await perform(on: DiskLane.reading) { $0.find { try $0.bytes(of: $1, row: $2) } }.value
    }

    /// Locks the file whose bytes are in memory already, without reading it; returns the number of bytes,
    /// from the first on, that the file has, 0 when it has others.
    package func resume(_ bytes: Data) async -> Int {
        await perform(on: DiskLane.writing) {
            $0.find { _, _, row in
                guard row.size <= bytes.count else { return nil }
                let part = bytes.prefix(row.size)
                return DiskFile.checksum(part) == row.checksum ? part : nil
            }
        }.value?.bytes.count ?? 0
    }

    /// Appends bytes at `start`, which has to be the end; `description` replaces the former one. Gives
    /// whether they are kept.
    @discardableResult
    package func append(_ bytes: Data, at start: Int, description: String) -> OneShot<Bool> {
        perform(on: DiskLane.writing) { $0.add(bytes, at: start, description) }
    }

    /// Removes the file if it is locked by this object, and writes nothing more.
    package func remove() {
        perform(on: DiskLane.writing) { file in
            if case .held = file.state { file.files.drop(file.name) }
            file.state = .closed
        }
    }

    package func close() {
        perform(on: DiskLane.writing) { $0.state = .closed }
    }

    @discardableResult
    private func perform<T: Sendable>(
        on lane: ThreadPool, _ work: @escaping @Sendable (PartialFile) -> T
    ) -> OneShot<T> {
        files.operations.enqueue(.file(name)) { [self] finish in
            lane.submit { finish(work(self)) }
        }
    }

    // MARK: On threads of the disk

    private func find(
        _ read: (PartialFiles, String, IndexRow) throws -> Data?
    ) -> Content? {
        guard case .open = state else { return nil }
        do {
            let found = try files.claim(name, creating: false)
            guard case .held(let file) = found else {
                state = found
                return nil
            }
            guard let row = try files.row(of: name), file.truncate(to: row.size),
                let bytes = try read(files, name, row)
            else {
                files.drop(name)
                return nil
            }
            file.continues(after: bytes)
            state = .held(file)
            return Content(bytes: bytes, description: row.key ?? "")
        } catch {
            // The index may be locked: the file is left alone.
            state = .closed
            return nil
        }
    }

    private func add(_ bytes: Data, at start: Int, _ description: String) -> Bool {
        if case .open = state {
            do {
                guard case .held(let file) = try files.claim(name, creating: true) else {
                    state = .closed
                    return false
                }
                // Bytes written by another process since the lookup are not continued.
                guard file.truncate(to: 0) else { throw POSIXError.current }
                state = .held(file)
            } catch {
                files.failed.give(error)
                state = .closed
            }
        }
        guard case .held(let file) = state else { return false }
        do {
            // Bytes at the wrong place would pass the checksum.
            if start == file.length { try file.append(bytes) }
            if start + bytes.count == file.length,
                try files.note(name, file, description: description)
            {
                return true
            }
        } catch {
            files.failed.give(error)
        }
        files.drop(name)
        state = .closed
        return false
    }
}

/// An open, locked file with its valid bytes; unlocked and closed on deinitialization.
final class HeldFile {
    private let descriptor: Int32
    private(set) var length = 0
    private(set) var checksum = RunningChecksum()

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit {
        // Not by closing it alone: a child process that is being started has a copy of the
        // descriptor for a moment, which would keep the lock.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    var identity: DiskFile.Identity? {
        var info = stat()
        return fstat(descriptor, &info) == 0 ? DiskFile.Identity(info) : nil
    }

    /// Cuts the file to `size` bytes; `false` when it is shorter.
    func truncate(to size: Int) -> Bool {
        var info = stat()
        return fstat(descriptor, &info) == 0 && info.st_size >= size
            && ftruncate(descriptor, off_t(size)) == 0
    }

    /// Notes that the file has exactly these bytes.
    func continues(after bytes: Data) {
        checksum = RunningChecksum()
        checksum.add(bytes)
        length = bytes.count
    }

    func append(_ bytes: Data) throws(POSIXError) {
        if let error = bytes.withUnsafeBytes({ CacheFolder.write($0, to: descriptor) }) {
            throw error
        }
        checksum.add(bytes)
        length += bytes.count
    }
}

/// An incremental XXH3 checksum, 64 bits.
final class RunningChecksum {
    private let state = XXH3_createState()

    init() {
        XXH3_64bits_reset(state)
    }

    deinit {
        XXH3_freeState(state)
    }

    func add(_ bytes: Data) {
        _ = bytes.withUnsafeBytes { XXH3_64bits_update(state, $0.baseAddress, $0.count) }
    }

    var value: Int64 { Int64(bitPattern: XXH3_64bits_digest(state)) }
}
