import CStorage
import Foundation
import HalcyonWork
import Synchronization

/// A file that has a temporary name in its destination's folder until it is complete.
struct PendingFile {
    private static let unfinished = Mutex<Set<FilePath>>([])

    static func write(_ data: Data, to name: String) throws {
        guard let path = FilePath(argument: name) else { throw POSIXError(.ENOENT) }
        try write(data, to: path)
    }

    /// Writes `data` to `path`, whole or not at all.
    ///
    /// A regular file there is replaced, through symbolic links and with its permissions kept; a device or pipe
    /// is written to.
    /// - Parameter replacing: Without it a file that is there is left as it is, and `.EEXIST` is thrown.
    /// - Throws: `POSIXError`; a file at `path` is then unchanged.
    static func write(_ data: Data, to path: FilePath, replacing: Bool = true) throws {
        var destination = path
        // What cannot be looked at cannot be written, which is told of then.
        let existing = try? path.status()
        switch existing.map({ $0.st_mode & S_IFMT }) {
        case nil: break
        case S_IFREG: destination = path.followingLinks ?? path
        case S_IFDIR: throw POSIXError(.EISDIR)
        default: return try write(data, to: path, 0)
        }
        let name = ".halcyon-\(UUID().uuidString).tmp"
        let temporary = destination.folder.appending(name.utf8)
        _ = unfinished.withLock { $0.insert(temporary) }
        defer { _ = unfinished.withLock { $0.remove(temporary) } }
        do {
            try write(data, to: temporary, O_CREAT | O_EXCL, mode: existing?.st_mode)
            try move(temporary, to: destination, replacing: replacing)
        } catch {
            remove(temporary)
            throw error
        }
    }

    /// Removes the files that are still being written; the process is about to end.
    static func discardAll() {
        for path in unfinished.withLock({ $0 }) { remove(path) }
    }

    private static func remove(_ path: FilePath) {
        _ = path.withCString { unlink($0) }
    }

    private static func move(
        _ source: FilePath, to destination: FilePath, replacing: Bool
    ) throws {
        let isMoved = source.withCString { source in
            destination.withCString { destination in
                if replacing { return rename(source, destination) == 0 }
                // Those who watch the folder are told of a file that is moved in, and not of a link.
                if halcyon_rename_to_new(AT_FDCWD, source, destination) == 0 { return true }
                // Some file systems cannot do that. Link replaces nothing either; some have no links.
                if errno != EEXIST, link(source, destination) == 0 {
                    unlink(source)
                    return true
                }
                if errno == EEXIST || access(destination, F_OK) == 0 {
                    errno = EEXIST
                    return false
                }
                return rename(source, destination) == 0
            }
        }
        if !isMoved { throw POSIXError.current }
    }

    /// - Parameter mode: The permissions; by default those of new files.
    private static func write(
        _ data: Data, to path: FilePath, _ flags: Int32, mode: mode_t? = nil
    ) throws {
        let descriptor = path.withCString { open($0, O_WRONLY | O_CLOEXEC | flags, 0o666) }
        guard descriptor >= 0 else { throw POSIXError.current }
        do {
            try FileDescriptorWriter.write(data, to: descriptor)
            if let mode { fchmod(descriptor, mode & 0o777) }
        } catch {
            close(descriptor)
            throw error
        }
        // Some file systems report here that the disk is full.
        guard close(descriptor) == 0 else { throw POSIXError.current }
    }
}
