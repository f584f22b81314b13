// Optimised builds take the types of sys/stat.h for those of this module.
import CDispatch
import CStorage
import Foundation
import Glibc
import HalcyonWork
import Synchronization

/// The socket of a listener in the file system.
///
/// The listener is bound to a name of its own, which becomes the one that clients know when it listens, and only
/// if nobody else does there. What others have put in its place meanwhile stays when the listener ends.
final class SocketFile: Sendable {
    /// Where clients connect.
    let path: String
    /// Where the listener is bound.
    let boundPath: String
    private let identity = Mutex<FileIdentity?>(nil)

    private struct FileIdentity: Equatable {
        let device: dev_t
        let number: ino_t
    }

    /// - Throws: `ListenError` for a path that has no room for another name beside it.
    init(_ path: String) throws(ListenError) {
        self.path = path
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
        // The kernel takes 107 bytes.
        let room = min(16, 107 - folder.utf8.count)
        guard room >= 4 else {
            throw ListenError(.unix(path: path), reason: "the path is too long", isSetting: true)
        }
        boundPath = folder + "." + String.randomHexadecimal().prefix(room - 1)
    }

    /// Gives the bound socket its name.
    ///
    /// - Throws: `ListenError` when somebody listens there, or the name cannot be taken.
    func publish(mode: SocketMode) throws(ListenError) {
        // Until now, only the owner could connect.
        guard chmod(boundPath, mode_t(mode.bits)) == 0, let own = Self.identity(of: boundPath)
        else { throw failure(errno) }
        try withFolderLocked { () throws(ListenError) in
            try checkName()
            guard rename(boundPath, path) == 0 else { throw failure(errno) }
        }
        identity.withLock { $0 = own }
    }

    func remove() {
        guard let own = identity.withLock({ $0 }) else {
            unlink(boundPath)
            return
        }
        // What cannot be locked is removed all the same.
        try? withFolderLocked { () throws(ListenError) in
            if Self.identity(of: path) == own { unlink(path) }
        }
    }

    /// - Throws: Unless the name is free, or of a socket that nobody listens at any more.
    private func checkName() throws(ListenError) {
        var info = stat()
        guard lstat(path, &info) == 0 else {
            if errno == ENOENT { return }
            throw failure(errno)
        }
        guard info.st_mode & S_IFMT == S_IFSOCK else {
            throw ListenError(
                .unix(path: path), reason: "there is a file of this name", isSetting: true)
        }
        switch Self.connectionError(path) {
        case ECONNREFUSED, ENOENT: return
        case 0, EAGAIN, EPROTOTYPE:
            throw ListenError(.unix(path: path), reason: "another process listens there")
        case let error: throw failure(error)
        }
    }

    /// The error number of a connection to a socket; 0 for none.
    private static func connectionError(_ path: String) -> Int32 {
        let descriptor = socket(
            AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0
        )
        guard descriptor >= 0 else { return errno }
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        guard path.utf8.count < MemoryLayout.size(ofValue: address.sun_path) else {
            return ENAMETOOLONG
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        return result == 0 ? 0 : errno
    }

    /// Keeps other servers from taking a name in the folder while `body` runs.
    private func withFolderLocked(_ body: () throws(ListenError) -> Void) throws(ListenError) {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        // A folder that cannot be locked still has names that can be taken.
        if descriptor >= 0 { _ = flock(descriptor, LOCK_EX) }
        defer { if descriptor >= 0 { close(descriptor) } }
        try body()
    }

    private static func identity(of path: String) -> FileIdentity? {
        var info = stat()
        guard lstat(path, &info) == 0 else { return nil }
        return FileIdentity(device: info.st_dev, number: info.st_ino)
    }

    private func failure(_ number: Int32) -> ListenError {
        ListenError(.unix(path: path), number: number)
    }
}
