import Foundation
import HalcyonWork

extension ImageCache {
    /// The file of a live photo's resource, if it is on disk and not expired; for a type that is not
    /// known, the file with any extension a live photo's file may have. Looks on the calling thread.
    func possibleCacheFileURLIfOnDisk(
        resource: LivePhotoResource, options: KingfisherParsedOptionsInfo
    ) -> URL? {
        for ext in resource.referenceFileType.possibleFileExtensions {
            let url = cacheFileURLIfOnDisk(
                forKey: options.cacheKey(of: resource.dataSource),
                processorIdentifier: LivePhotoResource.processorIdentifier, forcedExtension: ext)
            if let url { return url }
        }
        return nil
    }

    /// Writes the bytes of a live photo's resource to disk, under the extension of its type.
    func storeLivePhoto(
        _ data: Data, of resource: LivePhotoResource, options: KingfisherParsedOptionsInfo
    ) async throws {
        let key = ImageKey(
            options.cacheKey(of: resource.dataSource),
            processor: LivePhotoResource.processorIdentifier,
            forcedExtension: resource.referenceFileType.determinedFileExtension(data))
        if isSubclass {
            return try await storeToDisk(
                data, forKey: key.source, processorIdentifier: key.processor,
                forcedExtension: key.forcedExtension, expiration: options.diskCacheExpiration)
        }
        let result = await startWriting(
            data, for: key, expiration: options.diskCacheExpiration,
            writeOptions: options.diskStoreWriteOptions, isShared: true
        ).value
        try result.diskCacheResult.get()
    }
}
