import CStorage
package import Foundation
import Glibc
package import HalcyonWork

/// The file of one download in a ``PartialFiles``: what is there of it, and what is added.
///
/// It is held, so that nobody else writes it, from when it is found or begun until it is closed or
/// removed; who comes second gets nothing and keeps nothing. Its operations are done one after the
/// other on the threads of the disk, also those of another object for the same key.
package final class PartialFile: @unchecked Sendable {
    // Unchecked: `state` is used by the operations of the file alone, one after the other.

    /// What is there of a file.
    package struct Content: Sendable {
        package let bytes: Data
        /// What was given with the bytes.
        package let description: String
    }

    private enum State {
        /// Nothing is known of the file, or there is none.
        case open
        case held(HeldFile)
        /// Nothing is kept any more: somebody else holds the file, or it is done with.
        case closed
    }

    private let name: String
    private let files: PartialFiles
    private var state = State.open

    init(_ name: String, of files: PartialFiles) {
        self.name = name
        self.files = files
    }

    /// Holds the file that is there, and reads it. One that is not what its row says is removed.
    package func content() async -> Content? {
        await perform(on: DiskLane.reading) { $0.find { try $0.bytes(of: $1, row: $2) } }.value
    }

    /// Holds the file whose bytes are in memory already, without reading it.
    ///
    /// - Returns: How many of the bytes, from the first on, are in the file; 0 when it has others.
    package func resume(_ bytes: Data) async -> Int {
        await perform(on: DiskLane.writing) {
            $0.find { _, _, row in
                guard row.size <= bytes.count else { return nil }
                let part = bytes.prefix(row.size)
                return DiskFile.checksum(part) == row.checksum ? part : nil
            }
        }.value?.bytes.count ?? 0
    }

    /// Adds bytes at the end, which has to be at `start`. The description, which takes the place of the
    /// one before, is given back by `content`.
    ///
    /// - Returns: Whether they are kept.
    @discardableResult
    package func append(_ bytes: Data, at start: Int, description: String) -> OneShot<Bool> {
        perform(on: DiskLane.writing) { $0.add(bytes, at: start, description) }
    }

    /// Removes the file, if it is held, and keeps nothing any more.
    package func remove() {
        perform(on: DiskLane.writing) { file in
            if case .held = file.state { file.files.drop(file.name) }
            file.state = .closed
        }
    }

    /// Lets others have the file.
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
            guard case .held(let file) = try claimed(creating: false) else { return nil }
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
            // The index is locked, perhaps: the file is left alone.
            state = .closed
            return nil
        }
    }

    private func add(_ bytes: Data, at start: Int, _ description: String) -> Bool {
        if case .open = state {
            do {
                guard case .held(let file) = try claimed(creating: true) else {
                    state = .closed
                    return false
                }
                // What somebody has left since this one looked is not continued.
                guard file.truncate(to: 0) else { throw POSIXError.current }
                state = .held(file)
            } catch {
                files.noteFailure(error)
                state = .closed
            }
        }
        guard case .held(let file) = state else { return false }
        do {
            // Bytes that do not belong there would be found whole by their checksum.
            if start == file.length { try file.append(bytes) }
            if start + bytes.count == file.length,
                try files.note(name, file, description: description)
            {
                return true
            }
        } catch {
            files.noteFailure(error)
        }
        files.drop(name)
        state = .closed
        return false
    }

    private func claimed(creating: Bool) throws -> PartialFiles.Claim {
        let claim = try files.claim(name, creating: creating)
        if case .taken = claim { state = .closed }
        return claim
    }
}

/// An open, locked file and what is sure of it; its end unlocks and closes it.
final class HeldFile {
    private let descriptor: Int32
    /// The sure bytes.
    private(set) var length = 0
    private(set) var checksum = RunningChecksum()

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit {
        // Not by closing it alone: a program that is being started just now has a copy of it for a
        // moment, which would keep the lock.
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

    /// The file has these bytes and no others.
    func continues(after bytes: Data) {
        checksum = RunningChecksum()
        checksum.add(bytes)
        length = bytes.count
    }

    /// - Throws: `POSIXError`.
    func append(_ bytes: Data) throws(POSIXError) {
        if let error = bytes.withUnsafeBytes({ CacheFolder.write($0, to: descriptor) }) {
            throw error
        }
        checksum.add(bytes)
        length += bytes.count
    }
}

/// The XXH3 checksum of bytes that come one after the other, 64 bits.
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
