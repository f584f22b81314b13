public import Foundation

/// A store of named bytes shared by several machines: the third level of an ``ImageCache``, behind
/// memory and disk.
///
/// `S3ImageStorage` of the library `HalcyonS3` is one; any other storage within reach of several
/// machines can be adapted, such as a folder on a file server:
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
/// Names are 64 hexadecimal digits, and reveal nothing of their images. Damaged data is a miss: the
/// cache compares a checksum. Errors fail no request, and are logged once a minute at most. A
/// request waits for `data(named:)`, which must time out by itself after some tenths of a second.
/// The methods may be called from any thread, many at once; changes of one name are made one after
/// the other.
public protocol SharedImageStorage: Sendable {
    /// Returns the bytes under a name; `nil` if there are none.
    func data(named name: String) async throws -> Data?

    /// Stores bytes under a name, replacing earlier ones.
    func store(_ data: Data, named name: String) async throws

    /// Removes the bytes under a name, if there are any.
    func remove(named name: String) async throws
}
