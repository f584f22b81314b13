public import Foundation

/// Bytes by name that several machines share: the third level of an ``ImageCache``, behind memory and disk.
///
/// `S3ImageStorage` of the library `HalcyonS3` is one; anything else that several machines reach can be made
/// one, such as a folder on a file server:
///
/// ```swift
/// struct SharedFolder: SharedImageStorage {
///     let folder: URL
///
///     func data(named name: String) async throws -> Data? {
///         try? Data(contentsOf: folder.appendingPathComponent(name))
///     }
///
///     func store(_ data: Data, named name: String) async throws {
///         try data.write(to: folder.appendingPathComponent(name), options: .atomic)
///     }
///
///     func remove(named name: String) async throws {
///         try FileManager.default.removeItem(at: folder.appendingPathComponent(name))
///     }
/// }
/// ```
///
/// Names are 64 hexadecimal digits, and say nothing of what they stand for. What comes back damaged is a miss:
/// the cache compares a checksum. A method that throws fails no request, and is logged once a minute at most.
/// A request waits for `data(named:)`; it has to give up by itself after some tenths of a second. The methods
/// may be called from any thread, many at once; changes of one name follow each other.
public protocol SharedImageStorage: Sendable {
    /// What is stored under a name; `nil` when there is nothing.
    func data(named name: String) async throws -> Data?

    /// Stores bytes in place of those of the name, if there are any.
    func store(_ data: Data, named name: String) async throws

    /// Removes what is stored under a name, if there is anything.
    func remove(named name: String) async throws
}
