import CXXHash
import Foundation
import Glibc

/// Whole files, read and written with as few system calls as possible.
enum DiskFile {
    /// What reading a file gave.
    enum Content {
        case bytes(Data, Stamp)
        /// There is no such file.
        case missing
        /// The file has another length than expected.
        case otherSize
    }

    /// What tells a file from another one that takes its name.
    struct Identity: Equatable, Sendable {
        let device: UInt64
        let inode: UInt64

        init(_ info: stat) {
            device = UInt64(info.st_dev)
            inode = UInt64(info.st_ino)
        }
    }

    /// What tells a file from another one and from itself before a change.
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

    /// What the file system says of a file.
    struct Metadata {
        let identity: Identity
        let isRegular: Bool
        let size: Int
        /// Seconds since 1970.
        let modified: Double
        /// When the file's name, owner or content last changed, in seconds since 1970.
        let changed: Double

        init(_ info: stat) {
            identity = Identity(info)
            isRegular = info.st_mode & S_IFMT == S_IFREG
            size = Int(info.st_size)
            modified = Double(info.st_mtim.tv_sec) + Double(info.st_mtim.tv_nsec) / 1e9
            changed = Double(info.st_ctim.tv_sec) + Double(info.st_ctim.tv_nsec) / 1e9
        }
    }

    /// The file's metadata; `nil` when there is none to be had.
    static func metadata(_ path: String) -> Metadata? {
        var info = stat()
        return stat(path, &info) == 0 ? Metadata(info) : nil
    }

    /// Whether there is certainly no such file.
    static func isMissing(_ path: String) -> Bool {
        var info = stat()
        return stat(path, &info) != 0 && (errno == ENOENT || errno == ENOTDIR)
    }

    /// The bytes of a file of `size` bytes.
    /// - Throws: `POSIXError` when there is a file, but it cannot be read.
    static func read(_ path: String, size: Int) throws -> Content {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else {
            if errno == ENOENT || errno == ENOTDIR { return .missing }
            throw POSIXError.current
        }
        defer { close(file) }
        var info = stat()
        guard fstat(file, &info) == 0 else { throw POSIXError.current }
        guard info.st_mode & S_IFMT == S_IFREG else { throw POSIXError(.EISDIR) }
        guard Int(info.st_size) == size else { return .otherSize }
        guard size > 0 else { return .bytes(Data(), Stamp(info)) }
        guard let buffer = malloc(size) else { throw POSIXError(.ENOMEM) }
        var count = 0
        while count < size {
            let got = Glibc.read(file, buffer + count, size - count)
            if got < 0 && errno == EINTR { continue }
            guard got > 0 else {
                let error = POSIXError.current
                free(buffer)
                if got == 0 { return .otherSize }
                throw error
            }
            count += got
        }
        return .bytes(
            Data(bytesNoCopy: buffer, count: size, deallocator: .free), Stamp(info))
    }

    /// Writes a file that must not exist yet; removes it again when that fails.
    /// - Throws: `POSIXError`.
    static func create(_ path: String, bytes: Data) throws -> Stamp {
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        guard file >= 0 else { throw POSIXError.current }
        var info = stat()
        do {
            try bytes.withUnsafeBytes { try write($0, to: file) }
            guard fstat(file, &info) == 0 else { throw POSIXError.current }
        } catch {
            close(file)
            unlink(path)
            throw error
        }
        // A network file system may report here that it could not keep the bytes.
        guard close(file) == 0 else {
            let error = POSIXError.current
            unlink(path)
            throw error
        }
        return Stamp(info)
    }

    private static func write(_ bytes: UnsafeRawBufferPointer, to file: Int32) throws {
        var rest = bytes
        while let start = rest.baseAddress, !rest.isEmpty {
            let put = Glibc.write(file, start, rest.count)
            if put < 0 {
                if errno == EINTR { continue }
                throw POSIXError.current
            }
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(put))
        }
    }

    /// Gives a file its final name, at once.
    /// - Throws: `POSIXError`; with `overwriting` off, `EEXIST` when there is a file of that name.
    static func rename(_ path: String, to final: String, overwriting: Bool) throws {
        if overwriting {
            guard Glibc.rename(path, final) == 0 else { throw POSIXError.current }
        } else {
            guard link(path, final) == 0 else { throw POSIXError.current }
            unlink(path)
        }
    }

    /// The names in a folder, without hidden ones unless asked for; none when it cannot be listed.
    static func names(in folder: String, hidden: Bool) -> [String]? {
        guard let stream = opendir(folder) else { return nil }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name.hasPrefix(".") == hidden, name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    /// The XXH3 checksum, 64 bits.
    static func checksum(_ data: Data) -> Int64 {
        data.withUnsafeBytes { Int64(bitPattern: XXH3_64bits($0.baseAddress, $0.count)) }
    }
}

extension POSIXError {
    /// The error in `errno`.
    static var current: POSIXError {
        POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
    }
}
