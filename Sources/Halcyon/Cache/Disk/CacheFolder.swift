import CFileSystem
import Foundation
import Glibc

/// An open folder, whose files are reached by their names in it.
///
/// Whoever moves the folder or puts a link in its place meanwhile leads nothing astray: names are looked
/// up in the folder that was opened, and never lead through a link. A name must not contain a slash;
/// `CacheFileName.isSound` tells.
final class CacheFolder: Sendable {
    /// Good for looking names up only, so that the right to list the folder is not needed for it.
    private let descriptor: Int32
    let identity: DiskFile.Identity

    /// Opens a folder.
    /// - Throws: `POSIXError`.
    init(_ path: String) throws(POSIXError) {
        descriptor = halcyon_open_folder(path)
        guard descriptor >= 0 else { throw .current }
        var info = stat()
        guard fstat(descriptor, &info) == 0 else {
            let error = POSIXError.current
            close(descriptor)
            throw error
        }
        identity = DiskFile.Identity(info)
    }

    deinit {
        close(descriptor)
    }

    /// Whether `path` still leads to this folder.
    func isAt(_ path: String) -> Bool {
        var info = stat()
        return stat(path, &info) == 0 && DiskFile.Identity(info) == identity
    }

    /// Opens a file for reading, without waiting for whoever may be at the other end of it.
    /// - Returns: A descriptor, or -1 with `errno`.
    func openForReading(_ name: String) -> Int32 {
        openat(descriptor, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC)
    }

    /// Makes a file that only its owner can open; it must not exist yet.
    /// - Returns: A descriptor for writing, or -1 with `errno`.
    func makeFile(_ name: String) -> Int32 {
        openat(descriptor, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    }

    /// The metadata of a file, or of the link that has its name; `nil` when there is none to be had.
    func metadata(_ name: String) -> DiskFile.Metadata? {
        var info = stat()
        guard fstatat(descriptor, name, &info, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
        return DiskFile.Metadata(info)
    }

    /// Removes a file, or the link that has its name; `false` with `errno` when that fails. Folders
    /// stay.
    @discardableResult
    func remove(_ name: String) -> Bool {
        unlinkat(descriptor, name, 0) == 0
    }

    /// Removes an empty folder in the folder; `false` with `errno` when that fails.
    func removeFolder(_ name: String) -> Bool {
        unlinkat(descriptor, name, AT_REMOVEDIR) == 0
    }

    /// The names in the folder that are hidden, or those that are not; `nil` with `errno` when it cannot
    /// be listed.
    func names(hidden: Bool) -> [String]? {
        let file = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        guard let stream = fdopendir(file) else {
            let error = errno
            close(file)
            errno = error
            return nil
        }
        var names: [String] = []
        errno = 0
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name.hasPrefix(".") == hidden, name != ".", name != ".." { names.append(name) }
            errno = 0
        }
        let error = errno
        closedir(stream)
        errno = error
        return error == 0 ? names : nil
    }

    /// Makes the folder its owner's alone.
    func makePrivate() {
        // Who may not do so is not the owner.
        _ = fchmodat(descriptor, ".", 0o700, 0)
    }

    /// Runs `body` while no one else has the lock of the folder: one at a time opens, replaces or
    /// rebuilds the index.
    /// - Throws: `IndexUnavailable` when somebody else keeps the lock for too long, or the error of
    ///   `body`.
    func locked<T>(patience: LockPatience, _ body: () throws -> T) throws -> T {
        let file = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard file >= 0 else { throw POSIXError.current }
        defer { close(file) }
        let goesOn = patience.wait()
        var tries = 0
        // Where folders cannot be locked (some network file systems) two processes may rebuild the
        // index at once; SQLite's own locks still keep it whole.
        while flock(file, LOCK_EX | LOCK_NB) != 0 && (errno == EWOULDBLOCK || errno == EINTR) {
            guard goesOn(tries) else { throw IndexUnavailable.locked }
            tries += 1
        }
        return try body()
    }
}

extension CacheFolder {
    /// Gives a file its final name, at once.
    ///
    /// A file of that name is exchanged with the new one and then removed: renaming over it, some file
    /// systems write the new file to the disk before they go on, which takes longer than all the rest.
    /// - Throws: `POSIXError`; with `overwriting` off, `EEXIST` when there is a file of that name.
    func rename(_ name: String, to final: String, overwriting: Bool) throws(POSIXError) {
        if halcyon_rename_to_new(descriptor, name, final) == 0 { return }
        if errno == EEXIST {
            guard overwriting else { throw .current }
            if halcyon_exchange(descriptor, name, final) == 0 {
                if remove(name) { return }
                let error = POSIXError.current
                // A folder. It goes back to where it was.
                _ = halcyon_exchange(descriptor, name, final)
                throw error
            }
        } else if !Self.tellsOfUnknownFlag(errno) {
            throw .current
        }
        // Others may have removed the file meanwhile, or the file system knows neither flag.
        if overwriting {
            guard renameat(descriptor, name, descriptor, final) == 0 else { throw .current }
        } else {
            guard linkat(descriptor, name, descriptor, final, 0) == 0 else { throw .current }
            remove(name)
        }
    }

    /// Makes way for a file that has the place of the folder `name`: removes the folder if it is empty, and
    /// otherwise gives it another name.
    func clearWay(_ name: String) {
        guard !removeFolder(name), errno == ENOTEMPTY || errno == EEXIST else { return }
        // Short enough for a file name, and no name of a cached file.
        let beginning = String(decoding: name.utf8.prefix(64), as: UTF8.self)
        let aside = "\(beginning)-\(UInt32.random(in: 0 ... .max))"
        _ = renameat(descriptor, name, descriptor, aside)
    }

    private static func tellsOfUnknownFlag(_ error: Int32) -> Bool {
        error == EINVAL || error == ENOSYS || error == ENOTSUP
    }
}
