import Foundation
import Synchronization

/// A file that has a temporary name in its destination's folder until it is complete.
struct PendingFile {
    private static let unfinished = Mutex<Set<String>>([])

    /// Writes `data` to `path`, whole or not at all.
    ///
    /// A regular file there is replaced, through symbolic links; a device or pipe is written to.
    /// - Throws: `POSIXError`; a file at `path` is then unchanged.
    static func write(_ data: Data, to path: String) throws {
        var existing = stat()
        if stat(path, &existing) == 0 {
            switch existing.st_mode & S_IFMT {
            case S_IFREG: break
            case S_IFDIR: throw POSIXError(.EISDIR)
            default: return try write(data, to: path, 0)
            }
        }
        let destination = URL(fileURLWithPath: path).resolvingSymlinksInPath()
        let temporary = destination.deletingLastPathComponent()
            .appendingPathComponent(".halcyon-\(UUID().uuidString).tmp").path
        _ = unfinished.withLock { $0.insert(temporary) }
        defer { _ = unfinished.withLock { $0.remove(temporary) } }
        do {
            try write(data, to: temporary, O_CREAT | O_EXCL)
            guard rename(temporary, destination.path) == 0 else { throw POSIXError.current }
        } catch {
            unlink(temporary)
            throw error
        }
    }

    /// Removes the files that are still being written; the process is about to end.
    static func discardAll() {
        for path in unfinished.withLock({ $0 }) { unlink(path) }
    }

    private static func write(_ data: Data, to path: String, _ flags: Int32) throws {
        let descriptor = open(path, O_WRONLY | O_CLOEXEC | flags, 0o666)
        guard descriptor >= 0 else { throw POSIXError.current }
        do {
            try FileDescriptorWriter.write(data, to: descriptor)
        } catch {
            close(descriptor)
            throw error
        }
        // Some file systems report here that the disk is full.
        guard close(descriptor) == 0 else { throw POSIXError.current }
    }
}
