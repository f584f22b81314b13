import DirectCodecs
import Foundation

extension ImageCache {
    /// Stores an image and returns when it is on disk (in memory only, without `toDisk`).
    func storeAsync(
        _ image: KFCrossPlatformImage, original: Data?, forKey key: String,
        options: KingfisherParsedOptionsInfo, toDisk: Bool
    ) async -> CacheStoreResult {
        await startStore(
            image, original: original, forKey: key, options: options, toDisk: toDisk
        ).result
    }

    /// Writes the original bytes of an image to disk and returns when that is done: without the
    /// position in their metadata, unless the options keep it. Extension, expiration and write options
    /// are those of the options; no processor is part of the key.
    func storeOriginal(
        _ data: Data, forKey key: String, options: KingfisherParsedOptionsInfo
    ) async -> CacheStoreResult {
        let stored = await handedOver { hand in
            guard !options.keepPositionInOriginal else { return hand(data) }
            DecodingPool.shared.submit { hand(PositionMetadata.removed(from: data)) }
        }
        return await startWriting(
            stored, forComputedKey: key, expiration: options.diskCacheExpiration,
            writeOptions: options.diskStoreWriteOptions, forcedExtension: options.forcedExtension
        ).value
    }

    /// Stores an image: in memory now, if it is rendered, and the rest afterwards.
    func startStore(
        _ image: KFCrossPlatformImage, original: Data?, forKey key: String,
        options: KingfisherParsedOptionsInfo, toDisk: Bool
    ) -> PendingStore {
        let isRendered = image.isRendered
        if isRendered {
            storeInMemory(image, forKey: key, options: options)
            if !toDisk { return .finished(CacheStoreResult()) }
        }
        return .writing(
            startDiskStore(
                image, original: original, forKey: key, options: options,
                alsoInMemory: !isRendered, toDisk: toDisk))
    }

    /// Stores an image on disk after what was asked for before; with `alsoInMemory` it is rendered
    /// first and put into memory, too.
    func startDiskStore(
        _ image: KFCrossPlatformImage, original: Data?, forKey key: String,
        options: KingfisherParsedOptionsInfo, alsoInMemory: Bool = false, toDisk: Bool = true
    ) -> Task<CacheStoreResult, Never> {
        let computedKey = key.computedKey(with: options.processor.identifier)
        let name = diskStorage.cacheFileName(
            forKey: computedKey, forcedExtension: options.forcedExtension)
        return operations.enqueue(.file(name)) { [self] in
            let failure = CacheStoreResult(
                diskCacheResult: .failure(
                    .cacheError(
                        reason: .cannotSerializeImage(
                            image: image, original: original,
                            serializer: options.cacheSerializer))))
            if alsoInMemory {
                do { _ = try await image.rendered() } catch { return failure }
                storeInMemory(image, forKey: key, options: options)
                if !toDisk { return CacheStoreResult() }
            }
            let data = await handedOver { hand in
                DecodingPool.shared.submit {
                    hand(options.cacheSerializer.data(with: image, original: original))
                }
            }
            guard let data else { return failure }
            return await write(
                data, forComputedKey: computedKey, expiration: options.diskCacheExpiration,
                writeOptions: options.diskStoreWriteOptions,
                forcedExtension: options.forcedExtension)
        }
    }

    /// Writes bytes to disk after what was asked for before.
    func startWriting(
        _ data: Data, forComputedKey key: String, expiration: StorageExpiration?,
        writeOptions: Data.WritingOptions = [], forcedExtension: String?
    ) -> Task<CacheStoreResult, Never> {
        let name = diskStorage.cacheFileName(forKey: key, forcedExtension: forcedExtension)
        return operations.enqueue(.file(name)) { [self] in
            await write(
                data, forComputedKey: key, expiration: expiration, writeOptions: writeOptions,
                forcedExtension: forcedExtension)
        }
    }

    /// Calls `handler` with the result: at once when the store is finished.
    func deliver(
        _ store: PendingStore, on queue: CallbackQueue,
        to handler: (@Sendable (CacheStoreResult) -> Void)?
    ) {
        guard let handler else { return }
        switch store {
        case .finished(let result):
            queue.execute { handler(result) }
        case .writing(let task):
            Task {
                let result = await task.value
                queue.execute { handler(result) }
            }
        }
    }

    /// Puts a rendered image into memory.
    func storeInMemory(
        _ image: KFCrossPlatformImage, forKey key: String, options: KingfisherParsedOptionsInfo
    ) {
        memoryStorage.store(
            value: image, forKey: key.computedKey(with: options.processor.identifier),
            expiration: options.memoryCacheExpiration)
    }

    private func write(
        _ data: Data, forComputedKey key: String, expiration: StorageExpiration?,
        writeOptions: Data.WritingOptions, forcedExtension: String?
    ) async -> CacheStoreResult {
        await withCheckedContinuation { continuation in
            diskStorage.announceStore(byteCount: data.count)
            DiskLane.writing.submit { [diskStorage] in
                diskStorage.store(
                    value: data, forKey: key, expiration: expiration, writeOptions: writeOptions,
                    forcedExtension: forcedExtension
                ) { result in
                    continuation.resume(
                        returning: CacheStoreResult(
                            diskCacheResult: result.mapError {
                                .disk($0, at: diskStorage.directoryURL)
                            }))
                }
            }
        }
    }

    /// Options that say no more than how an image is stored.
    static func storeOptions(
        processorIdentifier: String, forcedExtension: String?, serializer: any CacheSerializer
    ) -> KingfisherParsedOptionsInfo {
        var options = KingfisherParsedOptionsInfo([
            .processor(IdentifierProcessor(identifier: processorIdentifier)),
            .cacheSerializer(serializer),
        ])
        options.forcedExtension = forcedExtension
        return options
    }
}

/// Stands for a processor of which only the identifier is known.
private struct IdentifierProcessor: ImageProcessor {
    let identifier: String

    func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo)
        -> KFCrossPlatformImage?
    {
        DefaultImageProcessor.default.process(item: item, options: options)
    }
}
