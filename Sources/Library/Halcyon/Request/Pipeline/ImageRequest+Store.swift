import Foundation
import HalcyonWork
import Synchronization

extension ImageRequest {
    /// Stores a new image in the caches; returns when the request may be delivered: right after the
    /// memory cache, or with `waitForCache` after the disk writes. Write failures are logged and do
    /// not fail the request.
    ///
    /// Among requests that share a material, the first of those with equal options writes for all.
    /// `stated` is the known origin of the material.
    func store(
        _ image: Image, of material: ImageMaterial, original: Data?, for key: ImageKey,
        stated: StatedOrigin? = nil
    ) async {
        var writings = [ImageFiles.Writing]()
        if targetCache.isSubclass {
            writings.append(storeByOverride(image, original: original))
        } else {
            targetCache.storeInMemory(image, for: key, options: options, origin: stated?.origin)
            options.events?.note(.stored(.memory))
            if !options.cacheMemoryOnly {
                writings.append(write(image, of: material, original: original, key, stated))
            }
        }
        if let original, options.cacheOriginalImage, hasProcessor {
            writings.append(
                originalCache.isSubclass
                    ? storeByOverride(original)
                    : writeOriginal(original, of: material, stated))
        }
        if let events = options.events {
            for writing in writings {
                writing.whenGiven { stored in
                    if case .success = stored.diskCacheResult { events.note(.stored(.disk)) }
                }
            }
        }
        if options.waitForCache {
            for writing in writings { _ = await writing.value }
            for file in sharedFiles(key) { await file.level.finish(file.name) }
        }
    }

    func sharedFiles(_ key: ImageKey) -> [(level: SharedLevel, name: String)] {
        [(targetCache, key), (originalCache, originalKey)].compactMap { cache, key in
            cache.shared.map { ($0, $0.name(of: key)) }
        }
    }

    private func write(
        _ image: Image, of material: ImageMaterial, original: Data?, _ key: ImageKey,
        _ stated: StatedOrigin?
    ) -> ImageFiles.Writing {
        var wish = ImageFiles.Wish(options)
        wish.creating = options.imageCreatingOptions
        wish.serializer = SerializerIdentity(options.cacheSerializer)
        return material.files.write(wish, key, in: targetCache, for: number) {
            targetCache.startDiskStore(
                image, original: original, for: key, options: options, logging: true,
                stated: stated)
        }
    }

    func write(
        _ bytes: Data, of material: ImageMaterial, _ key: ImageKey, _ stated: StatedOrigin?
    ) -> ImageFiles.Writing {
        material.files.write(ImageFiles.Wish(options), key, in: targetCache, for: number) {
            targetCache.startWriting(
                bytes, for: key, expiration: options.diskCacheExpiration,
                writeOptions: options.diskStoreWriteOptions, stated: stated)
        }
    }

    private func writeOriginal(
        _ bytes: Data, of material: ImageMaterial, _ stated: StatedOrigin?
    ) -> ImageFiles.Writing {
        let key = originalKey
        var wish = ImageFiles.Wish(options)
        wish.keepsPosition = options.keepPositionInOriginal
        return material.files.write(wish, key, in: originalCache, for: number) {
            originalCache.startStoringOriginal(bytes, for: key, options: options, stated: stated)
        }
    }

    /// Stores the image with a subclass of the cache, through the method that it may override.
    private func storeByOverride(_ image: Image, original: Data?) -> ImageFiles.Writing {
        var options = options
        options.callbackQueue = .untouch
        let outcome = OneShot<CacheStoreResult>()
        targetCache.store(
            image, original: original, forKey: key, options: options,
            toDisk: !options.cacheMemoryOnly, completionHandler: { outcome.give($0) })
        return reported(outcome)
    }

    private func storeByOverride(_ original: Data) -> ImageFiles.Writing {
        let outcome = OneShot<CacheStoreResult>()
        options.makeStoredOriginal(original) { [self] stored in
            // A subclass's code must not run on a thread of ours.
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

/// The files written from one material, so that each is written once for any number of callers.
///
/// Callers that need different contents or lifetimes each write the file, and the result is as if
/// they had been ready in the order of their requests: an earlier request never overwrites the file
/// of a later one, unless the later one was not to overwrite anything.
///
/// Not a `WorkTable`, whose callers may leave, and whose work depends on no order of requests.
final class ImageFiles: Sendable {
    private struct Location: Hashable {
        let cache: ObjectIdentifier
        let key: ImageKey
    }

    struct Wish: Hashable, Sendable {
        /// `nil` for the loaded bytes.
        var creating: ImageCreatingOptions?
        /// Serializers that cannot be compared never share a write.
        var serializer: SerializerIdentity?
        var keepsPosition = true
        let expiration: StorageExpiration?
        let writeOptions: UInt

        init(_ options: KingfisherParsedOptionsInfo) {
            expiration = options.diskCacheExpiration
            writeOptions = options.diskStoreWriteOptions.rawValue
        }

        var overwrites: Bool {
            !Data.WritingOptions(rawValue: writeOptions).contains(.withoutOverwriting)
        }
    }

    typealias Writing = OneShot<CacheStoreResult>

    private struct File {
        let wish: Wish
        /// The number of the latest request for this file.
        var request: UInt64
        let writing: Writing
    }

    private let files = Mutex<[Location: File]>([:])

    /// Returns the write for `request`, started by `begin` if there is none yet. `begin` must only
    /// start it: it runs under the lock, so that writes start in the order decided here.
    func write(
        _ wish: Wish, _ key: ImageKey, in cache: ImageCache, for request: UInt64,
        begin: () -> Writing
    ) -> Writing {
        let location = Location(cache: ObjectIdentifier(cache), key: key)
        return files.withLock { files in
            if let file = files[location] {
                let isSame = file.wish == wish && (wish.creating == nil || wish.serializer != nil)
                if isSame { files[location]?.request = max(file.request, request) }
                let isLate = file.request > request && file.wish.overwrites
                if isSame || isLate { return file.writing }
            }
            let writing = begin()
            files[location] = File(wish: wish, request: request, writing: writing)
            return writing
        }
    }
}

/// The identity of a serializer: equal ones do the same.
struct SerializerIdentity: Hashable, Sendable {
    private let type: ObjectIdentifier
    private let value: Value

    private enum Value: Hashable, @unchecked Sendable {
        // Unchecked because `AnyHashable` is not `Sendable`; what is in it is a serializer, which is.
        case object(ObjectIdentifier)
        case value(AnyHashable)
        /// The usual one, a separate case because it is compared in every request.
        case standard(DefaultCacheSerializer)
        case stateless
    }

    /// `nil` if it cannot be determined: a structure with state that is not `Hashable`.
    init?(_ serializer: any CacheSerializer) {
        let type = Swift.type(of: serializer)
        self.type = ObjectIdentifier(type)
        if let serializer = serializer as? DefaultCacheSerializer {
            value = .standard(serializer)
        } else if type is AnyClass {
            value = .object(ObjectIdentifier(serializer as AnyObject))
        } else if let hashable = serializer as? any Hashable {
            value = .value(AnyHashable(hashable))
        } else if Self.size(of: serializer) == 0 {
            value = .stateless
        } else {
            return nil
        }
    }

    private static func size<S>(of serializer: S) -> Int { MemoryLayout<S>.size }
}
