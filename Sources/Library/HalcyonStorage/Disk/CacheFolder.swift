import CStorage
package import Foundation
import Glibc
import HalcyonWork

/// An open folder, whose files are accessed by their names in it.
///
/// Moving the folder, or replacing it by a link, redirects no access: names are looked up in the
/// opened folder, and links are never followed. A name must not contain a slash;
/// `CacheFileName.isSound` tells.
final class CacheFolder: Sendable {
    /// A descriptor for looking up names only, which does not need the right to list the folder.
    private let descriptor: Int32
    let identity: DiskFile.Identity

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

    func isAt(_ path: String) -> Bool {
        var info = stat()
        return stat(path, &info) == 0 && DiskFile.Identity(info) == identity
    }

    /// Opens a file for reading, without waiting for the other end of a FIFO or the like.
    /// - Returns: A descriptor, or -1 with `errno`.
    func openForReading(_ name: String) -> Int32 {
        openat(descriptor, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC)
    }

    /// Opens a file for reading and appending; with `creating`, a missing one is made, for its owner alone.
    /// - Returns: A descriptor, or -1 with `errno`.
    func openForAppending(_ name: String, creating: Bool) -> Int32 {
        let flags = O_RDWR | O_APPEND | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC
        return openat(descriptor, name, creating ? flags | O_CREAT : flags, 0o600)
    }

    /// Creates a file that only its owner can open; it must not exist yet.
    /// - Returns: A descriptor for writing, or -1 with `errno`.
    func makeFile(_ name: String) -> Int32 {
        openat(descriptor, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    }

    /// The metadata of a file, or of the link of that name; `nil` when it cannot be read.
    func metadata(_ name: String) -> DiskFile.Metadata? {
        var info = stat()
        guard fstatat(descriptor, name, &info, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
        return DiskFile.Metadata(info)
    }

    /// The expiration in the file's note, in seconds since 1970; `nil` when there is none.
    func notedExpiration(_ name: String) -> Double? {
        let seconds = halcyon_noted_expiration(descriptor, name)
        return seconds.isNaN ? nil : seconds
    }

    /// Removes a file, or the link of that name; `false` with `errno` on failure. Folders stay.
    @discardableResult
    func remove(_ name: String) -> Bool {
        unlinkat(descriptor, name, 0) == 0
    }

    /// Removes an empty folder in the folder; `false` with `errno` on failure.
    func removeFolder(_ name: String) -> Bool {
        unlinkat(descriptor, name, AT_REMOVEDIR) == 0
    }

    /// The hidden or the visible names in the folder; `nil` with `errno` when it cannot be listed.
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

    func makePrivate() {
        // Only the owner may do so.
        _ = fchmodat(descriptor, ".", 0o700, 0)
    }

    /// Runs `body` under the folder's lock: only one process at a time opens, replaces or rebuilds
    /// the index.
    /// - Throws: `IndexUnavailable` when the lock is held for too long, or the error of `body`.
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
    /// Gives a file its final name atomically.
    ///
    /// An existing file of that name is exchanged with the new one and then removed: when renaming
    /// over it, some file systems first write the new file to the disk, which takes longer than all
    /// the rest.
    /// - Throws: `POSIXError`; with `overwriting` off, `EEXIST` when there is a file of that name.
    func rename(_ name: String, to final: String, overwriting: Bool) throws(POSIXError) {
        if halcyon_rename_to_new(descriptor, name, final) == 0 { return }
        if errno == EEXIST {
            guard overwriting else { throw .current }
            if halcyon_exchange(descriptor, name, final) == 0 {
                if remove(name) { return }
                let error = POSIXError.current
                // A folder is in the way. It goes back to where it was.
                _ = halcyon_exchange(descriptor, name, final)
                throw error
            }
        } else if errno != EINVAL, errno != ENOSYS, errno != ENOTSUP {
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

    /// Removes the folder `name`, which is in a file's place, if it is empty, and otherwise renames
    /// it.
    func clearWay(_ name: String) {
        guard !removeFolder(name), errno == ENOTEMPTY || errno == EEXIST else { return }
        // Short enough for a file name, and no name of a cached file.
        let beginning = String(decoding: name.utf8.prefix(64), as: UTF8.self)
        let aside = "\(beginning)-\(UInt32.random(in: 0 ... .max))"
        _ = renameat(descriptor, name, descriptor, aside)
    }
}

// Whole files, read and written with as few system calls as possible.
extension CacheFolder {
    /// The bytes of a file, which has to have `size` bytes if that is known.
    /// - Throws: `POSIXError` when there is a file or a folder, but it cannot be read.
    func read(_ name: String, size expected: Int?) throws(POSIXError) -> DiskFile.Content {
        let file = openForReading(name)
        guard file >= 0 else {
            switch errno {
            case ENOENT, ENOTDIR: return .missing
            // A link; a socket; a device that is not there.
            case ELOOP, ENXIO, ENODEV: return .unfit
            default: throw .current
            }
        }
        defer { close(file) }
        var info = stat()
        guard fstat(file, &info) == 0 else { throw .current }
        guard info.st_mode & S_IFMT != S_IFDIR else { throw POSIXError(.EISDIR) }
        guard info.st_mode & S_IFMT == S_IFREG else { return .unfit }
        let size = Int(info.st_size)
        guard size == expected ?? size else { return .unfit }
        guard size > 0 else { return .bytes(Data(), DiskFile.Stamp(info)) }
        guard let buffer = try? LargeMemory.allocate(byteCount: size) else {
            throw POSIXError(.ENOMEM)
        }
        var count = 0
        while count < size {
            let got = Glibc.read(file, buffer + count, size - count)
            if got < 0 && errno == EINTR { continue }
            guard got > 0 else {
                let error = POSIXError.current
                free(buffer)
                if got == 0 { return .unfit }
                throw error
            }
            count += got
        }
        return .bytes(
            Data(bytesNoCopy: buffer, count: size, deallocator: .free), DiskFile.Stamp(info))
    }

    /// Writes a file that must not exist yet; removes it again when that fails. `expires` is an expiration
    /// to be noted in the file, in seconds since 1970.
    func create(
        _ name: String, bytes: Data, expires: Double? = nil
    ) throws(POSIXError) -> DiskFile.Stamp {
        let file = makeFile(name)
        guard file >= 0 else { throw .current }
        var info = stat()
        var failure = bytes.withUnsafeBytes { Self.write($0, to: file) }
        // A file system without notes does no harm.
        if let expires { _ = halcyon_note_expiration(file, expires) }
        if failure == nil, fstat(file, &info) != 0 { failure = .current }
        // A network file system may report failed writes here.
        if close(file) != 0, failure == nil { failure = .current }
        if let failure {
            remove(name)
            throw failure
        }
        return DiskFile.Stamp(info)
    }

    static func write(_ bytes: UnsafeRawBufferPointer, to file: Int32) -> POSIXError? {
        var rest = bytes
        while let start = rest.baseAddress, !rest.isEmpty {
            let put = Glibc.write(file, start, rest.count)
            if put < 0 {
                if errno == EINTR { continue }
                return .current
            }
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(put))
        }
        return nil
    }
}

package enum DiskFile {
    enum Content {
        case bytes(Data, Stamp)
        case missing
        /// The file has another length than expected, or is a link, a FIFO, a socket or a device.
        case unfit
    }

    /// The identity of a file, which differs from that of another file of the same name.
    struct Identity: Equatable, Sendable {
        let device: UInt64
        let inode: UInt64

        init(_ info: stat) {
            device = UInt64(info.st_dev)
            inode = UInt64(info.st_ino)
        }
    }

    /// The identity and modification time of a file.
    struct Stamp: Equatable, Sendable {
        let identity: Identity
        let seconds: Int
        let nanoseconds: Int

        init(_ info: stat) {
            identity = Identity(info)
            seconds = info.st_mtim.tv_sec
            nanoseconds = info.st_mtim.tv_nsec
        }
    }

    struct Metadata {
        let stamp: Stamp
        let isRegular: Bool
        let isFolder: Bool
        let size: Int
        /// Seconds since 1970.
        let modified: Double
        /// The time of the last change of the file's name, owner or content, in seconds since 1970.
        let changed: Double

        init(_ info: stat) {
            stamp = Stamp(info)
            isRegular = info.st_mode & S_IFMT == S_IFREG
            isFolder = info.st_mode & S_IFMT == S_IFDIR
            size = Int(info.st_size)
            modified = Double(info.st_mtim.tv_sec) + Double(info.st_mtim.tv_nsec) / 1e9
            changed = Double(info.st_ctim.tv_sec) + Double(info.st_ctim.tv_nsec) / 1e9
        }
    }

    /// Whether a path certainly does not exist.
    static func isMissing(_ path: String) -> Bool {
        var info = stat()
        return lstat(path, &info) != 0 && (errno == ENOENT || errno == ENOTDIR)
    }

    /// Whether a path, following links, cannot be reached.
    static func isUnreachable(_ path: String) -> Bool {
        var info = stat()
        return stat(path, &info) != 0
    }

    /// The XXH3 checksum, 64 bits.
    package static func checksum(_ data: Data) -> Int64 {
        data.withUnsafeBytes { Int64(bitPattern: XXH3_64bits($0.baseAddress, $0.count)) }
    }
}

enum TemporaryFile {
    private static let prefix = ".tmp-"

    /// A name that no other thread or process uses.
    static func newName() -> String {
        "\(prefix)\(getpid())-\(String(UInt64.random(in: 0 ... .max), radix: 36))"
    }

    static func isName(_ name: String) -> Bool { name.hasPrefix(prefix) }
}

extension POSIXError {
    static var current: POSIXError {
        POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
    }
}
