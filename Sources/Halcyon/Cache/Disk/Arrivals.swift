import Foundation

/// Files that are written and wait for their names and rows.
///
/// A transaction of the index costs more than the row in it. So whoever finds nobody at work settles
/// all that wait, again and again until there are none; the others have nothing more to do. Only
/// decides.
struct Arrivals {
    /// The most files of one transaction, which keeps other processes waiting.
    static let batch = 64

    private var waiting: [ArrivedFile] = []
    private var isSettling = false

    /// Adds a file; `true` when the caller has to settle what waits.
    mutating func add(_ file: ArrivedFile) -> Bool {
        waiting.append(file)
        defer { isSettling = true }
        return !isSettling
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
    /// The path.
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
