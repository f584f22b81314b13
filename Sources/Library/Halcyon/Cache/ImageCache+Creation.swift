public import Foundation
import HalcyonWork

extension ImageCache {
    /// The cache `name` in the user's folder for caches; the name must not be empty. Its memory may
    /// take a quarter of what this process may use. When the folder cannot be made, each store tries
    /// again.
    public convenience init(name: String) {
        self.init(
            memoryStorage: Self.makeMemoryStorage(),
            diskStorage: DiskStorage.Backend(noThrowConfig: Self.diskConfig(name)))
    }

    /// The cache `name` in `cacheDirectoryURL`, or where `diskCachePathClosure` says.
    /// - Throws: `KingfisherError`, 3005, when the folder cannot be made.
    public convenience init(
        name: String, cacheDirectoryURL: URL?, diskCachePathClosure: DiskCachePathClosure? = nil
    ) throws {
        var config = Self.diskConfig(name, in: cacheDirectoryURL)
        if let diskCachePathClosure { config.cachePathBlock = diskCachePathClosure }
        self.init(
            memoryStorage: Self.makeMemoryStorage(),
            diskStorage: try DiskStorage.Backend(config: config))
    }

    /// A cache for tests of programs in a folder of its own, which takes the time from `now`.
    /// - Throws: `KingfisherError`, 3005, when the folder cannot be made.
    package convenience init(
        name: String, folder: URL, now: @escaping @Sendable () -> Date
    ) throws {
        let disk = DiskStorage.Backend<Data>(
            config: Self.diskConfig(name, in: folder), now: now)
        try disk.prepareDirectory()
        let memory = MemoryStorage.Config(totalCostLimit: 256 << 20)
        self.init(
            memoryStorage: MemoryStorage.Backend(config: memory, now: now), diskStorage: disk)
    }

    static func diskConfig(_ name: String, in folder: URL? = nil) -> DiskStorage.Config {
        precondition(!name.isEmpty, "a cache needs a name")
        return DiskStorage.Config(name: name, sizeLimit: 0, directory: folder)
    }

    static func makeMemoryStorage() -> MemoryStorage.Backend<KFCrossPlatformImage> {
        MemoryStorage.Backend(
            config: MemoryStorage.Config(totalCostLimit: Int(clamping: MemoryLimit().bytes / 4)))
    }
}
