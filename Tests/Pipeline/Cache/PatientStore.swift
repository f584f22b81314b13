import Foundation
import HalcyonStorage

/// What a disk storage keeps its values in, for texts.
///
/// While others keep the index locked it waits, however long that takes. A storage goes on without the
/// index after some tenths of a second, which is no long time while other tests run.
struct PatientStore: Sendable {
    private let files: CacheDirectory

    /// Makes the store and its folder.
    init(_ config: DiskStorage.Config) throws {
        files = CacheDirectory(config: config, now: { Date() }, lockPatience: .seconds(600))
        try files.makeFolder()
    }

    /// The folder of the files.
    var directoryURL: URL { files.url }

    func store(_ text: String, forKey key: String) throws {
        let file = try files.newFile(
            files.fileName(forKey: key), forKey: key, expiration: nil, overwriting: true
        ) { Data(text.utf8) }
        if let file { try files.store(file) }
    }

    func text(forKey key: String) throws -> String? {
        try files.value(of: files.fileName(forKey: key), forKey: key, extending: .cacheTime) {
            String(decoding: $0, as: UTF8.self)
        }
    }

    func isCached(forKey key: String) -> Bool { files.contains(files.fileName(forKey: key)) }

    func remove(forKey key: String) throws { try files.remove(files.fileName(forKey: key)) }

    func totalSize() throws -> UInt { try files.totalSize() }
}
