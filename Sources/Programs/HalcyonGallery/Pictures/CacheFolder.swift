import Foundation
import Glibc
import Synchronization

/// The folder of the disk cache, which is gone for good when the program ends.
///
/// Images may still be stored then. They find no folder, and only this makes one.
final class CacheFolder: FileManager, @unchecked Sendable {
    // Unchecked because the class above is; what is added is constant or locked.

    let url: URL
    private let isRemoved = Mutex(false)

    override init() {
        url = FileManager.default.temporaryDirectory
            .appendingPathComponent("halcyon-gallery-\(UUID().uuidString)", isDirectory: true)
        super.init()
    }

    deinit {
        remove()
    }

    override func createDirectory(
        at url: URL, withIntermediateDirectories createIntermediates: Bool,
        attributes: [FileAttributeKey: Any]? = nil
    ) throws {
        // Under the lock, so that none is being made while the folder is removed.
        try isRemoved.withLock { isRemoved in
            guard !isRemoved else { throw POSIXError(.ENOENT) }
            try FileManager.default.createDirectory(
                at: url, withIntermediateDirectories: createIntermediates, attributes: attributes)
        }
    }

    /// Removes the folder with everything in it. None is made after that.
    func remove() {
        isRemoved.withLock { isRemoved in
            guard !isRemoved else { return }
            isRemoved = true
            // Under another name nobody finds it, so that nothing comes into it while it is removed.
            let grave = url.deletingLastPathComponent()
                .appendingPathComponent(".\(url.lastPathComponent)", isDirectory: true)
            guard rename(url.path, grave.path) == 0 else { return }
            // What cannot be removed, the system clears some day.
            try? FileManager.default.removeItem(at: grave)
        }
    }
}
