import Dispatch
import Foundation
import HalcyonWork

/// Tells of the files in a folder, and of those that appear in it or change, by inotify.
///
/// A file counts when it is closed after writing, or moved in; deletions do not. Hidden files are passed over.
final class FolderWatch: @unchecked Sendable {
    // Unchecked because `folders` belongs to `queue`, which alone touches it.

    /// A file, or what cannot be looked at.
    typealias Find = Result<FilePath, FilePath.Failure>

    private struct State {
        /// In the order in which they appeared; some may be in it twice.
        var files: [Find] = []
        var end: Result<Void, CommandFailure>?
    }

    private static let events = UInt32(
        IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE_SELF | IN_MOVE_SELF
            | IN_ONLYDIR)

    let folder: FilePath
    private let isRecursive: Bool
    private let identity: FileIdentity?
    /// A folder that is passed over, however it is named.
    private let excluded: FilePath?
    private let descriptor: Int32
    private let source: any DispatchSourceRead
    private let queue = DispatchQueue(label: "halcyon.watch")
    private let state = Observed(State())
    /// The folders that are watched, by the numbers that inotify gave them.
    private var folders: [Int32: FilePath] = [:]

    /// Starts to watch; the files that are there are the first that ``next()`` returns.
    ///
    /// - Parameters:
    ///   - isRecursive: Whether the folders in it are watched too, also those that appear later.
    ///   - output: A folder that is passed over.
    /// - Throws: `CommandFailure`.
    init(_ folder: FilePath, isRecursive: Bool, passingOver output: FilePath?) throws {
        self.folder = folder
        self.isRecursive = isRecursive
        identity = FileIdentity(folder)
        excluded = output
        descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        guard descriptor >= 0 else {
            throw CommandFailure(
                description: "Folders cannot be watched: \(POSIXError.current.text)")
        }
        source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        source.setCancelHandler { [descriptor] in close(descriptor) }
        source.setEventHandler { [weak self] in self?.readEvents() }
        // The system's word for a lease that is broken, which would end the process.
        signal(SIGIO, SIG_IGN)
        source.activate()
        try queue.sync {
            var files: [Find] = []
            try add(folder, to: &files)
            tell(of: files)
        }
    }

    deinit { source.cancel() }

    /// The files that have appeared or changed since the last call, waiting for one; `nil` after ``stop()`` and when
    /// the task is cancelled.
    /// - Throws: `CommandFailure` when the folder is gone, or a folder in it cannot be watched.
    func next() async throws -> [Find]? {
        checkPlace()
        await state.wait { !$0.files.isEmpty || $0.end != nil }
        let (files, end) = state.update { state in
            defer { state.files = [] }
            return (state.files, state.end)
        }
        if let end { try end.get() }
        return end == nil && !files.isEmpty ? files : nil
    }

    func stop() { end(.success(())) }

    /// Whether no further file is to be loaded.
    @Sendable func hasEnded() -> Bool {
        checkPlace()
        return state.read { $0.end != nil }
    }

    /// Ends the watch if the folder is not at its path any more. Of a folder that it is in, or a link to it, the system
    /// tells nothing.
    private func checkPlace() {
        if FileIdentity(folder) != identity { end(.failure(gone)) }
    }

    private var gone: CommandFailure {
        CommandFailure(description: "\(folder.description) was moved or removed")
    }

    private func end(_ result: Result<Void, CommandFailure>) {
        state.update { $0.end = $0.end ?? result }
    }

    private func tell(of files: [Find]) {
        if !files.isEmpty { state.update { $0.files += files } }
    }

    /// Watches a folder and the folders in it, and adds the files in them.
    private func add(_ root: FilePath, to files: inout [Find]) throws(CommandFailure) {
        var waiting = [root]
        while let next = waiting.popLast() {
            let output = excluded.flatMap(FileIdentity.init)
            if let output, FileIdentity(next) == output { continue }
            let number = next.withCString { inotify_add_watch(descriptor, $0, Self.events) }
            if number >= 0 {
                folders[number] = next
            } else if next == folder || errno != EACCES {
                // A folder in it may be gone again.
                if next != folder, [ENOENT, ENOTDIR].contains(errno) { continue }
                let advice = errno == ENOSPC ? "; raise fs.inotify.max_user_watches" : ""
                throw CommandFailure(
                    description: "\(next.description) cannot be watched: "
                        + POSIXError.current.text + advice)
            }
            // After that its files are told of twice rather than not at all.
            let listing = FolderListing(below: next, includesLinks: true, isRecursive: false)
            files += listing.files.filter { !$0.isBeingWritten }.map { .success($0) }
            files += listing.failures.filter { $0.path.isThere }.map { .failure($0) }
            if isRecursive { waiting += listing.folders.reversed() }
        }
    }

    private func readEvents() {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return }
            var files: [Find] = []
            for event in FolderEvent.all(in: buffer[..<count]) { take(event, &files) }
            checkPlace()
            tell(of: files)
        }
    }

    private func take(_ event: FolderEvent, _ files: inout [Find]) {
        do {
            if event.has(IN_Q_OVERFLOW) { return try add(folder, to: &files) }
            guard let place = folders[event.folder] else { return }
            if event.has(IN_IGNORED) || event.has(IN_UNMOUNT) { folders[event.folder] = nil }
            let isGone = [IN_DELETE_SELF, IN_MOVE_SELF, IN_UNMOUNT].contains(where: event.has)
            if isGone, place == folder { throw gone }
            guard !event.name.isEmpty, event.name.first != UInt8(ascii: ".") else { return }
            let path = place.appending(event.name)
            if !event.has(IN_ISDIR) {
                guard event.has(IN_CLOSE_WRITE) || event.has(IN_MOVED_TO) else { return }
                files.append(.success(path))
            } else if isRecursive, event.has(IN_MOVED_FROM) {
                forget(path)
            } else if isRecursive {
                try add(path, to: &files)
            }
        } catch {
            end(.failure(error as? CommandFailure ?? CommandFailure(description: "\(error)")))
        }
    }

    /// Ends watching a folder that was moved away, and those in it.
    private func forget(_ path: FilePath) {
        let names = path.components
        for (number, folder) in folders where folder.components.starts(with: names) {
            inotify_rm_watch(descriptor, number)
            folders[number] = nil
        }
    }
}

/// One event of inotify.
struct FolderEvent: Equatable {
    /// The number of the watched folder.
    let folder: Int32
    let mask: UInt32
    /// The name of the file in it, if it is about one.
    let name: [UInt8]

    func has(_ bit: some BinaryInteger) -> Bool { mask & UInt32(truncatingIfNeeded: bit) != 0 }

    /// The events in what the system has written: a number, bits, a cookie, the length of the name, and the name, which
    /// is filled up with zeros.
    static func all(in bytes: ArraySlice<UInt8>) -> [FolderEvent] {
        var events: [FolderEvent] = []
        bytes.withUnsafeBytes { bytes in
            var start = 0
            while start + 16 <= bytes.count {
                func number(_ index: Int) -> UInt32 {
                    bytes.loadUnaligned(fromByteOffset: start + 4 * index, as: UInt32.self)
                }
                let end = min(start + 16 + Int(number(3)), bytes.count)
                events.append(
                    FolderEvent(
                        folder: Int32(bitPattern: number(0)), mask: number(1),
                        name: Array(bytes[(start + 16)..<end].prefix { $0 != 0 })))
                start = end
            }
        }
        return events
    }
}

extension FilePath {
    /// Whether something is at the path, even a link that leads nowhere, or it cannot be told.
    fileprivate var isThere: Bool {
        var status = stat()
        return withCString { lstat($0, &status) } == 0 || errno != ENOENT
    }

    /// Whether some process has the file open for writing: then the system grants no lease. `false` where it cannot be
    /// told, as of the files of others.
    fileprivate var isBeingWritten: Bool {
        let descriptor = withCString { open($0, O_RDONLY | O_NONBLOCK | O_CLOEXEC) }
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        // F_SETLEASE, which Swift does not see.
        let setLease: Int32 = 1024
        guard fcntl(descriptor, setLease, Int32(F_RDLCK)) != 0 else {
            _ = fcntl(descriptor, setLease, Int32(F_UNLCK))
            return false
        }
        return errno == EAGAIN
    }
}
