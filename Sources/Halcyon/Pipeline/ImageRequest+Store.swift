import Foundation
import HalcyonWork

extension ImageRequest {
    /// Puts a new image into the caches; returns when the request may be delivered: at once after
    /// the memory cache has it, or with `waitForCache` when the disk has been written. What cannot be
    /// written is logged and fails nothing.
    ///
    /// Of requests that share a material, the first of those with equal wishes writes for all.
    func store(
        _ image: Image, of material: ImageMaterial, original: Data?, for key: ImageKey
    ) async {
        var writings = [ImageFiles.Writing]()
        if targetCache.isSubclass {
            writings.append(storeByOverride(image, original: original))
        } else {
            targetCache.storeInMemory(image, for: key, options: options)
            if !options.cacheMemoryOnly {
                writings.append(write(image, of: material, original: original, key))
            }
        }
        if let original, options.cacheOriginalImage, hasProcessor {
            writings.append(
                originalCache.isSubclass
                    ? storeByOverride(original)
                    : writeOriginal(original, of: material))
        }
        if options.waitForCache {
            for writing in writings { _ = await writing.value }
        }
    }

    private func write(
        _ image: Image, of material: ImageMaterial, original: Data?, _ key: ImageKey
    ) -> ImageFiles.Writing {
        let wish = ImageFiles.Wish(
            creating: options.imageCreatingOptions,
            serializer: SerializerIdentity(options.cacheSerializer),
            expiration: options.diskCacheExpiration,
            writeOptions: options.diskStoreWriteOptions.rawValue)
        let place = ImageFiles.Place(cache: ObjectIdentifier(targetCache), key: key)
        return material.files.write(wish, at: place, for: number) {
            targetCache.startDiskStore(
                image, original: original, for: key, options: options, logging: true)
        }
    }

    /// Writes the bytes as they were loaded.
    func write(
        _ bytes: Data, of material: ImageMaterial, _ key: ImageKey
    ) -> ImageFiles.Writing {
        let wish = ImageFiles.Wish(
            expiration: options.diskCacheExpiration,
            writeOptions: options.diskStoreWriteOptions.rawValue)
        let place = ImageFiles.Place(cache: ObjectIdentifier(targetCache), key: key)
        return material.files.write(wish, at: place, for: number) {
            targetCache.startWriting(
                bytes, for: key, expiration: options.diskCacheExpiration,
                writeOptions: options.diskStoreWriteOptions)
        }
    }

    private func writeOriginal(
        _ bytes: Data, of material: ImageMaterial
    ) -> ImageFiles.Writing {
        let key = originalKey
        let wish = ImageFiles.Wish(
            keepsPosition: options.keepPositionInOriginal,
            expiration: options.diskCacheExpiration,
            writeOptions: options.diskStoreWriteOptions.rawValue)
        let place = ImageFiles.Place(cache: ObjectIdentifier(originalCache), key: key)
        return material.files.write(wish, at: place, for: number) {
            originalCache.startStoringOriginal(bytes, for: key, options: options)
        }
    }

    /// Lets a subclass of the cache store the image, by the method that it may override.
    private func storeByOverride(_ image: Image, original: Data?) -> ImageFiles.Writing {
        var options = options
        options.callbackQueue = .untouch
        let outcome = OneShot<CacheStoreResult>()
        targetCache.store(
            image, original: original, forKey: key, options: options,
            toDisk: !options.cacheMemoryOnly, completionHandler: { outcome.give($0) })
        return reported(outcome)
    }

    /// Lets a subclass of the cache store an original.
    private func storeByOverride(_ original: Data) -> ImageFiles.Writing {
        let outcome = OneShot<CacheStoreResult>()
        options.makeStoredOriginal(original) { [self] stored in
            // Whatever the subclass does is done on no thread of ours.
            Task {
                originalCache.storeToDisk(
                    stored, forKey: key, forcedExtension: options.forcedExtension,
                    expiration: options.diskCacheExpiration,
                    completionHandler: { outcome.give($0) })
            }
        }
        return reported(outcome)
    }

    private func reported(_ outcome: OneShot<CacheStoreResult>) -> ImageFiles.Writing {
        outcome.whenGiven { result in
            if case .failure(let error) = result.diskCacheResult { HalcyonLog.warn(of: error) }
        }
        return outcome
    }
}
