public import Foundation
import HalcyonWork

extension Notification.Name {
    /// Posted on the main queue when a cleaning has removed files from a disk cache. The object is the
    /// cache; the file names are in the user info under `KingfisherDiskCacheCleanedHashKey`.
    public static let KingfisherDidCleanDiskCache = Notification.Name(
        "com.onevcat.Kingfisher.KingfisherDidCleanDiskCache")
}

/// The user info key of the removed files' names, an array of strings.
public let KingfisherDiskCacheCleanedHashKey = "com.onevcat.Kingfisher.cleanedHash"

extension ImageCache {
    /// Removes all files from disk once nothing was stored on it or read from it for `interval` seconds;
    /// `nil`, the default, for never.
    ///
    /// For caches that are used for days and then not at all. Holds from now on: before the disk is used
    /// next, and whenever expired files are removed. Hits in memory are no use of the disk.
    public func wipeDisk(whenUnusedFor interval: TimeInterval?) {
        diskStorage.config.wipesWhenUnusedFor = interval
    }

    /// Removes an image from memory now and from disk afterwards; `nil` when not from disk.
    func startRemoving(
        forComputedKey key: String, forcedExtension: String?, fromMemory: Bool, fromDisk: Bool
    ) -> OneShot<Result<Void, any Error>>? {
        if fromMemory { memoryStorage.remove(forKey: key) }
        guard fromDisk else { return nil }
        let forAll = shared.map {
            $0.remove($0.name(forComputedKey: key, forcedExtension: forcedExtension))
        }
        let name = diskStorage.cacheFileName(forKey: key, forcedExtension: forcedExtension)
        return operations.enqueue(.file(name)) { [diskStorage] finish in
            DiskLane.writing.submit {
                let result = Result { try diskStorage.files.remove(name) }
                guard let forAll else { return finish(result) }
                forAll.whenGiven { finish(result) }
            }
        }
    }

    /// See `removeImages(forKey:forcedExtension:fromMemory:fromDisk:)`; `nil` when not from disk.
    func startRemovingVariants(
        of key: String, forcedExtension: String?, fromMemory: Bool, fromDisk: Bool
    ) -> OneShot<Result<Void, any Error>>? {
        var processors: [String] = []
        if fromMemory {
            let beginning = "\(key)@"
            processors = memoryStorage.removeKeys(where: { $0.hasPrefix(beginning) })
                .map { String($0.dropFirst(beginning.count)) }
        }
        let original = startRemoving(
            forComputedKey: key, forcedExtension: forcedExtension, fromMemory: fromMemory,
            fromDisk: fromDisk)
        guard let original else { return nil }
        // Whatever is being written may be one of them.
        return operations.enqueue(.everything) { [self, processors] in
            let removal = await DiskLane.writing.run { [diskStorage] in
                Result { try inKingfishersWords { try diskStorage.files.removeVariants(of: key) } }
            }
            // What the index does not tell is not removed there either.
            await removeFromOthers(key, processors, forcedExtension, try? removal.get())
            let outcome = await original.value
            return Result {
                try outcome.get()
                _ = try removal.get()
            }
        }
    }

    /// Removes from the storage that machines share what processors have made of an image: all that are known
    /// here, as others may have stored what this machine has not.
    private func removeFromOthers(
        _ key: String, _ inMemory: [String], _ forcedExtension: String?,
        _ found: (
            removed: [(processor: String, forcedExtension: String?)], processors: Set<String>
        )?
    ) async {
        guard let shared else { return }
        var names = Set(
            (found?.processors ?? []).union(inMemory).map {
                shared.name(
                    forComputedKey: key.computedKey(with: $0), forcedExtension: forcedExtension)
            })
        for (processor, ext) in found?.removed ?? [] {
            names.insert(
                shared.name(
                    forComputedKey: key.computedKey(with: processor), forcedExtension: ext))
        }
        let removals = names.map { shared.remove($0) }
        for removal in removals { await removal.value }
    }

    /// Removes all files after what was asked for before.
    func startClearingDisk() -> OneShot<Void> {
        operations.enqueue(.everything) { [diskStorage] finish in
            DiskLane.writing.submit {
                // The interface has no way to tell; what is left is removed when it expires.
                try? diskStorage.removeAll()
                finish(())
            }
        }
    }

    /// Removes expired files and those above the size limit, and posts the notification.
    func cleanDisk() async {
        await operations.finishAll()
        let removed = await DiskLane.writing.run { [diskStorage] in
            // The interface has no way to tell; what is left is removed by the next cleaning.
            let expired = (try? diskStorage.removeExpiredValues()) ?? []
            let exceeding = (try? diskStorage.removeSizeExceededValues()) ?? []
            return (expired + exceeding).map(\.lastPathComponent)
        }
        guard !removed.isEmpty else { return }
        DispatchQueue.main.async {
            NotificationCenter.default.post(
                name: .KingfisherDidCleanDiskCache, object: self,
                userInfo: [KingfisherDiskCacheCleanedHashKey: removed])
        }
    }

    /// Bytes of all files, those included that were to be written before.
    func diskSize() async -> Result<UInt, KingfisherError> {
        await operations.finishAll()
        return await DiskLane.reading.run { [diskStorage] in
            Result { try diskStorage.totalSize() }
                .mapError { .disk($0, at: diskStorage.directoryURL) }
        }
    }

    /// Removes an image and all that processors have made of it, whatever the processors, and returns when that
    /// is done.
    ///
    /// From disk as far as the index knows what its files are: not of files that were found when a lost index
    /// was made again. From the storage that machines share, what the processors have made that this cache
    /// knows. In memory a key that begins with this one and `@` counts as one of them.
    /// - Throws: `KingfisherError`, 3004, when the index cannot be read; the error of the file system when the
    ///   file of the original could not be removed.
    public func removeImages(
        forKey key: String, forcedExtension: String? = nil, fromMemory: Bool = true,
        fromDisk: Bool = true
    ) async throws {
        try await startRemovingVariants(
            of: key, forcedExtension: forcedExtension, fromMemory: fromMemory, fromDisk: fromDisk
        )?.value.get()
    }

    /// Removes the image of a source and all that processors have made of it; see the form for keys.
    ///
    /// - Parameters:
    ///   - source: The source of the image.
    ///   - options: The options that concern its key: `cacheKeyNormalizer` and `forcedCacheFileExtension`.
    ///   - fromMemory: Whether it is removed from memory.
    ///   - fromDisk: Whether it is removed from disk.
    public func removeImages(
        of source: Source, options: KingfisherOptionsInfo? = nil, fromMemory: Bool = true,
        fromDisk: Bool = true
    ) async throws {
        let options = KingfisherParsedOptionsInfo(options)
        try await removeImages(
            forKey: options.cacheKey(of: source), forcedExtension: options.forcedExtension,
            fromMemory: fromMemory, fromDisk: fromDisk)
    }

    /// Removes the image of a resource and all that processors have made of it; see the form for keys.
    public func removeImages(
        of resource: any Resource, options: KingfisherOptionsInfo? = nil, fromMemory: Bool = true,
        fromDisk: Bool = true
    ) async throws {
        try await removeImages(
            of: resource.convertToSource(), options: options, fromMemory: fromMemory,
            fromDisk: fromDisk)
    }

    /// Removes an image and all that processors have made of it from memory before this returns, and from disk
    /// afterwards. Failures of the disk are not reported; the asynchronous form throws them.
    public func removeImages(
        forKey key: String, forcedExtension: String? = nil, fromMemory: Bool = true,
        fromDisk: Bool = true, callbackQueue: CallbackQueue = .untouch,
        completionHandler: (@Sendable () -> Void)?
    ) {
        let removal = startRemovingVariants(
            of: key, forcedExtension: forcedExtension, fromMemory: fromMemory, fromDisk: fromDisk)
        guard let completionHandler else { return }
        Task {
            _ = await removal?.value
            callbackQueue.execute(completionHandler)
        }
    }
}
