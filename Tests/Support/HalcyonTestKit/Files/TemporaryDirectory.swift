public import Foundation

/// A new directory of its own, removed with everything in it when the last reference goes.
public final class TemporaryDirectory: Sendable {
    public let url: URL

    /// Makes an empty directory in the system's place for temporary files.
    public init(prefix: String = "halcyon") throws {
        url = FileManager.default.temporaryDirectory
            .appendingPathComponent("\(prefix)-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        // The error cannot be reported from here; the system clears its temporary files some day.
        try? remove()
    }

    /// The place of a file in the directory, which need not exist.
    public func file(_ path: String) -> URL { url.appendingPathComponent(path, isDirectory: false) }

    /// Writes a file, with the directories above it, and returns its place.
    @discardableResult
    public func write(_ data: Data, to path: String) throws -> URL {
        let file = file(path)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try data.write(to: file)
        return file
    }

    /// Removes the directory now; removing it again does nothing.
    public func remove() throws {
        guard FileManager.default.fileExists(atPath: url.path) else { return }
        try FileManager.default.removeItem(at: url)
    }
}
