import Foundation

extension ImageCache {
    /// Looks an image up in memory and, unless the options forbid, on disk; what is found on disk is
    /// put into memory. A hit in memory is answered without suspension.
    ///
    /// `isCurrent` tells whether anyone still wants the image. It is asked before the disk is read,
    /// before the bytes are decoded, and before the image is rendered and put into memory; once it says
    /// no, the result is `none`.
    func lookup(
        key: String, options: KingfisherParsedOptionsInfo, isCurrent: (@Sendable () -> Bool)?
    ) async throws(KingfisherError) -> ImageCacheResult {
        if let image = retrieveImageInMemoryCache(forKey: key, options: options) {
            return .memory(image)
        }
        if options.fromMemoryCacheOrRefresh { return .none }
        guard !options.loadDiskFileSynchronously, let identity = LookupIdentity(key, options) else {
            return try await promoted(key: key, options: options, isCurrent: isCurrent).get()
        }
        while true {
            let result = await lookups.value(for: identity, isWanted: isCurrent) { isWanted in
                // Another look-up may have ended since the memory was asked.
                if let image = retrieveImageInMemoryCache(forKey: key, options: options) {
                    return .success(.memory(image))
                }
                let result = await promoted(key: key, options: options, isCurrent: isWanted)
                if case .success(.none) = result, !isWanted() { return nil }
                return result
            }
            if let result { return try result.get() }
            // Given up because nobody wanted it; this caller may have come since.
            guard isCurrent?() ?? true else { return .none }
        }
    }

    /// The image on disk, put into memory.
    private func promoted(
        key: String, options: KingfisherParsedOptionsInfo, isCurrent: (@Sendable () -> Bool)?
    ) async -> Result<ImageCacheResult, KingfisherError> {
        do throws(KingfisherError) {
            guard let image = try await diskImage(key: key, options: options, isCurrent: isCurrent)
            else { return .success(.none) }
            storeInMemory(image, forKey: key, options: options)
            return .success(.disk(image))
        } catch {
            return .failure(error)
        }
    }

    /// `lookup` with its error as a value.
    func lookupResult(
        key: String, options: KingfisherParsedOptionsInfo
    ) async -> Result<ImageCacheResult, KingfisherError> {
        do throws(KingfisherError) {
            return .success(try await lookup(key: key, options: options, isCurrent: nil))
        } catch {
            return .failure(error)
        }
    }

    /// The image in memory, if any. The options tell what the access does to its expiration.
    func memoryImage(
        forKey key: String, processorIdentifier: String, options: KingfisherParsedOptionsInfo
    ) -> KFCrossPlatformImage? {
        let extending = options.memoryCacheAccessExtendingExpiration
        // The usual key is handed on as it is: a copy would be counted, in a line of memory that other
        // threads may be changing.
        if processorIdentifier.isEmpty {
            return memoryStorage.value(forKey: key, extendingExpiration: extending)
        }
        return memoryStorage.value(
            forKey: key.computedKey(with: processorIdentifier), extendingExpiration: extending)
    }

    /// The rendered image on disk, if any. A file that is no image is removed. Waits for changes of the
    /// file asked for before, unless it is to be read on the calling thread.
    func diskImage(
        key: String, options: KingfisherParsedOptionsInfo, isCurrent: (@Sendable () -> Bool)?
    ) async throws(KingfisherError) -> KFCrossPlatformImage? {
        let reading = DiskReading(
            storage: diskStorage, key: key.computedKey(with: options.processor.identifier),
            options: options, isCurrent: isCurrent)
        if options.loadDiskFileSynchronously { return try reading.run() }

        guard reading.isWanted else { return nil }
        await operations.pending(reading.fileName)?()
        let read = await DiskLane.reading.run { reading.read() }
        guard let data = try read.get(), reading.isWanted else { return nil }
        switch await reading.decodeElsewhere(data) {
        case .image(let image):
            return image
        case .unwanted:
            return nil
        case .undecodable:
            let removal = operations.enqueue(.file(reading.fileName)) {
                await DiskLane.writing.run { reading.remove(data) }
            }
            await removal.value
            return nil
        }
    }
}

/// The steps of reading an image from disk. Each may block.
private struct DiskReading: Sendable {
    enum Decoding: Sendable {
        case image(KFCrossPlatformImage)
        case undecodable
        /// Nobody wants the image any more.
        case unwanted
    }

    let storage: DiskStorage.Backend<Data>
    let key: String
    let options: KingfisherParsedOptionsInfo
    let isCurrent: (@Sendable () -> Bool)?

    var isWanted: Bool { isCurrent?() ?? true }

    var fileName: String {
        storage.cacheFileName(forKey: key, forcedExtension: options.forcedExtension)
    }

    /// All steps, one after the other.
    func run() throws(KingfisherError) -> KFCrossPlatformImage? {
        guard isWanted, let data = try read().get(), isWanted else { return nil }
        switch decode(data) {
        case .image(let image): return image
        case .unwanted: return nil
        case .undecodable:
            remove(data)
            return nil
        }
    }

    func read() -> Result<Data?, KingfisherError> {
        do {
            return .success(
                try storage.value(
                    forKey: key, forcedExtension: options.forcedExtension,
                    extendingExpiration: options.diskCacheAccessExtendingExpiration))
        } catch {
            return .failure(.disk(error, at: storage.directoryURL))
        }
    }

    func decode(_ data: Data) -> Decoding {
        guard var image = options.cacheSerializer.image(with: data, options: options) else {
            return .undecodable
        }
        guard isWanted else { return .unwanted }
        if options.cacheSerializer.originalDataUsed, !options.processor.identifier.isEmpty {
            // What is on disk is the original. It is processed here, before it gets into memory, so
            // that hits there need it no more.
            guard
                let processed = options.processor.process(item: .image(image), options: options)
            else { return .undecodable }
            image = processed
        }
        do {
            _ = try image.bitmap()
            return .image(image)
        } catch {
            // What is wrong with a cached file is of no use to those who will load it anew.
            return .undecodable
        }
    }

    func decodeElsewhere(_ data: Data) async -> Decoding {
        await handedOver { hand in
            DecodingPool.shared.submit { hand(decode(data)) }
        }
    }

    /// Removes the file unless it has been replaced since.
    func remove(_ data: Data) {
        // A file that cannot be removed is found undecodable again next time.
        try? storage.directory.remove(fileName, ifHolding: data)
    }
}

extension KingfisherError {
    /// An error of the disk storage, which throws hardly anything else than this type.
    static func disk(_ error: any Error, at url: URL) -> KingfisherError {
        error as? KingfisherError
            ?? .cacheError(reason: .cannotLoadDataFromDisk(url: url, error: error))
    }
}
