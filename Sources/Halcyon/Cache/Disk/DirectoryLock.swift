import Foundation
import Glibc

/// Lets one process at a time open, replace or rebuild the index of a folder.
enum DirectoryLock {
    /// Runs `body` while no one else has the lock of `folder`.
    /// - Throws: `POSIXError` when there is no such folder, or the error of `body`.
    static func hold<T>(_ folder: String, _ body: () throws -> T) throws -> T {
        let file = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard file >= 0 else { throw POSIXError.current }
        defer { close(file) }
        // Where folders cannot be locked (some network file systems) two processes may rebuild the
        // index at once; SQLite's own locks still keep it whole.
        while flock(file, LOCK_EX) != 0 && errno == EINTR {}
        return try body()
    }
}
