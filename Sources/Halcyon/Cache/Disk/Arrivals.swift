import Foundation

/// Files that are written and wait for their names and rows.
///
/// A transaction of the index costs more than the row in it. So the last of those that are being
/// written settles all that wait, again and again until there are none; the others have nothing more to
/// do. Only decides.
struct Arrivals {
    /// The most files of one transaction, which keeps other processes waiting.
    static let batch = 64
    /// The most bytes of a file that is waited for: on a slow disk a large one takes too long.
    static let mostAwaitedBytes = 1 << 20

    private var waiting: [ArrivedFile] = []
    /// Files that are going to be added or passed over.
    private var announced = 0
    private var isSettling = false

    /// Lets those that are written meanwhile wait for one of so many bytes that is still to be written,
    /// unless it is large.
    mutating func announce(byteCount: Int) {
        if byteCount <= Self.mostAwaitedBytes { announced += 1 }
    }

    /// Adds a file; `true` when the caller has to settle what waits.
    mutating func add(_ file: ArrivedFile) -> Bool {
        waiting.append(file)
        return passOver()
    }

    /// Says that an announced file is not written; `true` when the caller has to settle what waits.
    mutating func passOver() -> Bool {
        // Files that come without having been announced only make the others wait less.
        announced = max(0, announced - 1)
        guard !isSettling, !waiting.isEmpty, announced == 0 || waiting.count >= Self.batch else {
            return false
        }
        isSettling = true
        return true
    }

    /// The files to settle next, in the order they came; with none, the settling is over.
    mutating func take() -> [ArrivedFile] {
        let files = Array(waiting.prefix(Self.batch))
        waiting.removeFirst(files.count)
        if files.isEmpty { isSettling = false }
        return files
    }
}

/// A file that has been written under a temporary name.
struct ArrivedFile: Sendable {
    let file: NewFile
    let row: IndexRow
    /// The name it was written under.
    let temporary: String
    let stamp: DiskFile.Stamp
    /// Called once, when the file is in its place with its row, or is not going to be.
    let completion: @Sendable (Result<Void, any Error>) -> Void
}

/// A file to be stored.
struct NewFile: Sendable {
    let name: String
    let key: String
    let bytes: Data
    let expires: Date
    /// The most bytes that all files may have with this one; `nil` for no limit.
    let limit: Int?
    /// Whether a file of the name may be replaced.
    let overwriting: Bool
}
