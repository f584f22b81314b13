import Foundation
import HalcyonWork

extension ImageCache {
    /// Writes the original bytes of an image to disk after what was asked for before: without the
    /// position in their metadata, unless the options keep it. Expiration and write options are those of
    /// the options. A failure is logged: nobody else may hear of it.
    func startStoringOriginal(
        _ data: Data, for key: ImageKey, options: KingfisherParsedOptionsInfo,
        stated: StatedOrigin? = nil
    ) -> OneShot<CacheStoreResult> {
        operations.enqueue(.file(key.fileName(in: self))) { [self] finish in
            options.makeStoredOriginal(data) { [self] stored in
                write(
                    stored, for: key, expiration: options.diskCacheExpiration,
                    writeOptions: options.diskStoreWriteOptions, logging: true, stated, finish)
            }
        }
    }

    /// Stores an image for the program: in memory now, if it is rendered, and the rest afterwards.
    func startStore(
        _ image: KFCrossPlatformImage, original: Data?, forKey key: String,
        options: KingfisherParsedOptionsInfo, toDisk: Bool
    ) -> OneShot<CacheStoreResult> {
        let isRendered = image.isRendered
        if isRendered {
            // For which no file has to have a name.
            storeInMemory(
                image, forKey: key.computedKey(with: options.processor.identifier),
                options: options, origin: .program)
            if !toDisk { return OneShot(given: CacheStoreResult()) }
        }
        return startDiskStore(
            image, original: original, for: ImageKey(key, options), options: options,
            alsoInMemory: !isRendered, toDisk: toDisk, stated: .program)
    }

    /// Bytes from which on pixels are stored before others are decoded.
    private static let largePixels = 16 << 20

    /// Stores an image on disk after what was asked for before; with `alsoInMemory` it is rendered
    /// first and put into memory, too. With `logging`, a failure is logged: nobody else may hear of it.
    func startDiskStore(
        _ image: KFCrossPlatformImage, original: Data?, for key: ImageKey,
        options: KingfisherParsedOptionsInfo, alsoInMemory: Bool = false, toDisk: Bool = true,
        logging: Bool = false, stated: StatedOrigin? = nil
    ) -> OneShot<CacheStoreResult> {
        operations.enqueue(.file(key.fileName(in: self))) { [self] finish in
            // Large pixels are held until they are stored: that goes before decoding more of them.
            let isLarge = image.isRendered && image.cacheCost >= Self.largePixels
            DecodingPool.shared.submit(isFirst: isLarge) { [self] in
                let failure = KingfisherError.cacheError(
                    reason: .cannotSerializeImage(
                        image: image, original: original, serializer: options.cacheSerializer))
                if alsoInMemory {
                    do { _ = try image.bitmap() } catch {
                        return finish(CacheStoreResult(failure, logging: logging))
                    }
                    storeInMemory(image, for: key, options: options, origin: stated?.origin)
                    if !toDisk { return finish(CacheStoreResult()) }
                }
                let data = options.cacheSerializer.data(with: image, original: original)
                guard let data else {
                    return finish(CacheStoreResult(failure, logging: logging))
                }
                write(
                    data, for: key, expiration: options.diskCacheExpiration,
                    writeOptions: options.diskStoreWriteOptions, logging: logging, stated, finish)
            }
        }
    }

    /// Writes bytes to disk after what was asked for before; those that other machines have already, or are
    /// not to have, with `isShared`.
    func startWriting(
        _ data: Data, for key: ImageKey, expiration: StorageExpiration?,
        writeOptions: Data.WritingOptions = [], stated: StatedOrigin? = nil,
        isShared: Bool = false
    ) -> OneShot<CacheStoreResult> {
        operations.enqueue(.file(key.fileName(in: self))) { [self] finish in
            write(
                data, for: key, expiration: expiration, writeOptions: writeOptions,
                logging: false, stated, isShared: isShared, finish)
        }
    }

    func storeInMemory(
        _ image: KFCrossPlatformImage, for key: ImageKey, options: KingfisherParsedOptionsInfo,
        origin: ImageOrigin? = nil
    ) {
        origin?.record?.noteImage(forKey: key.source)
        storeInMemory(image, forKey: key.text, options: options, origin: origin)
    }

    private func storeInMemory(
        _ image: KFCrossPlatformImage, forKey text: String, options: KingfisherParsedOptionsInfo,
        origin: ImageOrigin?
    ) {
        memoryStorage.store(
            value: image, forKey: text, expiration: options.memoryCacheExpiration, note: origin)
    }

    /// Writes bytes on a thread of the disk; `finish` is called there. Gives them to other machines, too.
    private func write(
        _ data: Data, for key: ImageKey, expiration: StorageExpiration?,
        writeOptions: Data.WritingOptions, logging: Bool, _ stated: StatedOrigin?,
        isShared: Bool = false, _ finish: @escaping @Sendable (CacheStoreResult) -> Void
    ) {
        let name = key.fileName(in: self)
        if !isShared { share(data, for: key, expiration: expiration, stated) }
        diskStorage.files.announce(byteCount: data.count)
        DiskLane.writing.submit { [diskStorage] in
            diskStorage.store(
                value: data, forKey: key.text, named: name, expiration: expiration,
                writeOptions: writeOptions, derivation: stated?.derivation(of: data),
                response: stated?.response, variant: key.variant
            ) { result in
                switch result {
                case .success:
                    finish(CacheStoreResult())
                case .failure(let error):
                    let error = KingfisherError.disk(error, at: diskStorage.directoryURL)
                    finish(CacheStoreResult(error, logging: logging))
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

extension KingfisherParsedOptionsInfo {
    /// Makes what is stored of an original's bytes; `completion` is called at once or by the decoding
    /// pool.
    func makeStoredOriginal(_ data: Data, completion: @escaping @Sendable (Data) -> Void) {
        if self.keepPositionInOriginal { return completion(data) }
        DecodingPool.shared.submit { completion(ImageMetadata.removingPosition(from: data)) }
    }
}

/// Stands for a processor of which only the identifier is known, or counts.
struct IdentifierProcessor: ImageProcessor {
    let identifier: String

    func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo)
        -> KFCrossPlatformImage?
    {
        DefaultImageProcessor.default.process(item: item, options: options)
    }
}
