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
        /// The file has another length than expected, or is a link, a FIFO, a socket or a device.
        case unfit
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
        let isFolder: Bool
        let size: Int
        /// Seconds since 1970.
        let modified: Double
        /// When the file's name, owner or content last changed, in seconds since 1970.
        let changed: Double

        init(_ info: stat) {
            identity = Identity(info)
            isRegular = info.st_mode & S_IFMT == S_IFREG
            isFolder = info.st_mode & S_IFMT == S_IFDIR
            size = Int(info.st_size)
            modified = Double(info.st_mtim.tv_sec) + Double(info.st_mtim.tv_nsec) / 1e9
            changed = Double(info.st_ctim.tv_sec) + Double(info.st_ctim.tv_nsec) / 1e9
        }
    }

    /// Whether there is certainly nothing at a path.
    static func isMissing(_ path: String) -> Bool {
        var info = stat()
        return lstat(path, &info) != 0 && (errno == ENOENT || errno == ENOTDIR)
    }

    /// Whether what is at a path, following links, cannot be reached.
    static func isUnreachable(_ path: String) -> Bool {
        var info = stat()
        return stat(path, &info) != 0
    }

    /// The XXH3 checksum, 64 bits.
    static func checksum(_ data: Data) -> Int64 {
        data.withUnsafeBytes { Int64(bitPattern: XXH3_64bits($0.baseAddress, $0.count)) }
    }
}

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
        guard let buffer = malloc(size) else { throw POSIXError(.ENOMEM) }
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

    /// Writes a file that must not exist yet; removes it again when that fails.
    /// - Throws: `POSIXError`.
    func create(_ name: String, bytes: Data) throws(POSIXError) -> DiskFile.Stamp {
        let file = makeFile(name)
        guard file >= 0 else { throw .current }
        var info = stat()
        var failure = bytes.withUnsafeBytes { Self.write($0, to: file) }
        if failure == nil, fstat(file, &info) != 0 { failure = .current }
        // A network file system may report here that it could not keep the bytes.
        if close(file) != 0, failure == nil { failure = .current }
        if let failure {
            remove(name)
            throw failure
        }
        return DiskFile.Stamp(info)
    }

    private static func write(_ bytes: UnsafeRawBufferPointer, to file: Int32) -> POSIXError? {
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

extension POSIXError {
    /// The error in `errno`.
    static var current: POSIXError {
        POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
    }
}
