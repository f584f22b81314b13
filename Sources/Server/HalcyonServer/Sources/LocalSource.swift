import CStorage
import Foundation
import Glibc
import HalcyonServerURLs
import HalcyonStorage
import HalcyonWork
import Synchronization

/// Pictures in a folder and below it; no path leads out of it.
///
/// The folder is opened once. A path is walked from there, segment by segment, so that the checked
/// file is the opened one, whatever others do to the folder meanwhile.
final class LocalSource: Sendable {
    /// The path of the folder, which distinguishes files of several folders.
    let name: String
    private let followsSymlinks: Bool
    private let folder: Mutex<OpenFolder>

    /// A folder that stays open while files are looked up in it.
    private final class OpenFolder: Sendable {
        let descriptor: Int32
        let isOnThisMachine: Bool

        init(_ path: String) throws {
            descriptor = try LocalSource.checked(halcyon_open_folder(path))
            isOnThisMachine = halcyon_is_on_this_machine(descriptor) == 1
        }

        deinit { close(descriptor) }
    }

    /// - Throws: `POSIXError` when there is no such folder.
    init(root path: String, followsSymlinks: Bool) throws {
        name = path
        self.followsSymlinks = followsSymlinks
        folder = Mutex(try OpenFolder(path))
    }

    /// Continues with the folder that another source with this name has opened since.
    func take(_ other: LocalSource?) {
        guard let present = other?.root else { return }
        folder.withLock { $0 = present }
    }

    private var root: OpenFolder { folder.withLock { $0 } }

    struct File: Sendable, Hashable {
        let path: [String]
        let size: Int
        /// When it was modified: seconds since 1970, and the nanoseconds beyond them.
        let seconds: Int64
        let nanoseconds: Int64

        /// Changes with the content.
        var validator: String { "\(seconds).\(nanoseconds)-\(size)" }
        var modificationDate: Date { Date(timeIntervalSince1970: TimeInterval(seconds)) }
    }

    func find(oneOf paths: [[String]]) async throws(Failure) -> File {
        var missing = Self.missing("there is no path")
        for path in paths {
            do throws(Failure) {
                return try await find(path)
            } catch {
                missing = error
            }
        }
        throw missing
    }

    /// Finds a file, without reading it.
    func find(_ path: [String]) async throws(Failure) -> File {
        if let file = fileInKernelsCache(path) { return file }
        return try await opening(path) { _, file throws(Failure) in file }
    }

    /// Returns the file's metadata if the kernel has it without waiting for a disk: for most
    /// requests that saves two changes of threads. `nil` when it would have to wait, and for any
    /// fault of the file.
    private func fileInKernelsCache(_ path: [String]) -> File? {
        let root = root
        guard root.isOnThisMachine else { return nil }
        let descriptor = Self.withBytes(of: path.joined(separator: "/")) {
            halcyon_open_cached(root.descriptor, $0, followsSymlinks ? 1 : 0)
        }
        withExtendedLifetime(root) {}
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        return try? Self.file(descriptor, path)
    }

    /// Returns the bytes of a file, with its present metadata.
    func read(_ path: [String], limit: Int) async throws(Failure) -> (Data, File) {
        try await opening(path) { descriptor, file throws(Failure) in
            guard file.size <= limit else {
                throw Failure(.sourceTooLarge, "The source has more than \(limit) bytes")
            }
            return (try Self.bytes(of: descriptor, count: file.size), file)
        }
    }

    /// Returns the names of picture files directly in the folder, in alphabetical order.
    func names(extensions: [String]) async -> [String] {
        await DiskLane.reading.run { [name] in
            // A folder that cannot be listed counts as empty.
            let all = (try? FileManager.default.contentsOfDirectory(atPath: name)) ?? []
            return all.filter { file in
                let ending = file.split(separator: ".").last.map { $0.lowercased() } ?? ""
                return !file.hasPrefix(".") && extensions.contains(ending)
            }.sorted()
        }
    }

    private func opening<Value: Sendable>(
        _ path: [String],
        _ work: @escaping @Sendable (_ descriptor: Int32, File) throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let result = await DiskLane.reading.run { [self] in
            Result { () throws(Failure) in
                let descriptor = try open(path)
                defer { close(descriptor) }
                return try work(descriptor, try Self.file(descriptor, path))
            }
        }
        return try result.get()
    }

    /// Returns a descriptor of the file at `path`.
    private func open(_ path: [String]) throws(Failure) -> Int32 {
        let opened = root
        let root = opened.descriptor
        defer { withExtendedLifetime(opened) {} }
        if followsSymlinks {
            let descriptor = Self.withBytes(of: path.joined(separator: "/")) {
                halcyon_open_beneath(root, $0)
            }
            guard descriptor >= 0 else { throw Self.missing(String(cString: strerror(errno))) }
            return descriptor
        }
        var folder = root
        for (index, name) in path.enumerated() {
            let isLast = index == path.count - 1
            // A FIFO without a writer would wait for one.
            let kind = isLast ? O_NONBLOCK | O_NOCTTY : O_DIRECTORY
            let descriptor = Self.withBytes(of: name) {
                openat(folder, $0, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | kind)
            }
            let error = errno
            if folder != root { close(folder) }
            guard descriptor >= 0 else { throw Self.missing(String(cString: strerror(error))) }
            folder = descriptor
        }
        return folder
    }

    /// Calls `open` with a name as the file system has it.
    private static func withBytes(
        of name: String, _ open: (UnsafePointer<CChar>) -> Int32
    ) -> Int32 {
        guard name.isEscaped else { return name.withCString(open) }
        // A name is a path.
        return FilePath(argument: name)?.withCString(open) ?? -1
    }

    private static func file(_ descriptor: Int32, _ path: [String]) throws(Failure) -> File {
        var size: Int64 = 0
        var seconds: Int64 = 0
        var nanoseconds: Int64 = 0
        switch halcyon_regular_file(descriptor, &size, &seconds, &nanoseconds) {
        case 1:
            return File(
                path: path, size: Int(size), seconds: seconds, nanoseconds: nanoseconds)
        case 0: throw missing("it is not a file")
        default: throw missing(String(cString: strerror(errno)))
        }
    }

    /// Returns exactly `count` bytes.
    private static func bytes(of descriptor: Int32, count: Int) throws(Failure) -> Data {
        guard count > 0 else { throw Failure(.sourceFormat, "The source is empty") }
        var filled = 0
        var isBroken = false
        let data = try Failure.withRoom { () throws(LargeMemory.Shortage) in
            try LargeMemory.data(byteCount: count) { buffer in
                while filled < count {
                    let got = Glibc.read(descriptor, buffer.baseAddress! + filled, count - filled)
                    if got < 0, errno == EINTR { continue }
                    if got <= 0 {
                        isBroken = got < 0
                        return
                    }
                    filled += got
                }
            }
        }
        if isBroken { throw missing("it cannot be read") }
        guard filled == count else {
            throw Failure(.sourceIncomplete, "The source changed while it was read")
        }
        return data
    }

    /// Returns the failure for missing, forbidden and unreadable files: all look the same from
    /// outside.
    private static func missing(_ cause: String) -> Failure {
        Failure(.sourceNotFound, "There is no such source", cause: cause)
    }

    private static func checked(_ descriptor: Int32) throws -> Int32 {
        guard descriptor >= 0 else {
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
        }
        return descriptor
    }
}
