import Foundation
import HalcyonWork

extension ImageCache {
    /// Looks an image up in memory and, unless the options forbid, on disk; what is found on disk is
    /// put into memory. A hit in memory is answered without suspension.
    ///
    /// `isCurrent` tells whether anyone still wants the image. It is asked before the disk is read,
    /// before the bytes are decoded, and before the image is rendered and put into memory; once it says
    /// no, the result is `none`.
    ///
    /// With `origin`, the file is known to be of it, and memory counts only where it is, too. `accepting` makes
    /// of an image in memory what is delivered; `nil` for one that does not count.
    func lookup(
        _ key: ImageKey, options: KingfisherParsedOptionsInfo, isCurrent: (@Sendable () -> Bool)?,
        origin: ImageOrigin? = nil, accepting: @escaping @Sendable (Image) -> Image? = { $0 }
    ) async throws(KingfisherError) -> ImageCacheResult {
        if let image = memoryImage(key, options: options, of: origin).flatMap(accepting) {
            return .memory(image)
        }
        if options.fromMemoryCacheOrRefresh { return .none }
        guard !options.loadDiskFileSynchronously,
            let lookup = LookupKey(key, options, of: origin)
        else {
            return try await promoted(key, options: options, isCurrent: isCurrent, origin)
        }
        let result: Result<ImageCacheResult, KingfisherError>? =
            await lookups.wantedResult(for: lookup, isWanted: isCurrent) { work in
                // Another look-up may have ended since the memory was asked.
                if let image = memoryImage(key, options: options, of: origin).flatMap(accepting) {
                    return .success(.memory(image))
                }
                let result = await Result { () async throws(KingfisherError) in
                    try await promoted(key, options: options, isCurrent: { work.isWanted }, origin)
                }
                if case .success(.none) = result, work.isGivenUp { return nil }
                return result
            }
        return try result?.get() ?? .none
    }

    private func promoted(
        _ key: ImageKey, options: KingfisherParsedOptionsInfo,
        isCurrent: (@Sendable () -> Bool)?, _ origin: ImageOrigin?
    ) async throws(KingfisherError) -> ImageCacheResult {
        // A response's image is brought from other machines before its origin is looked at.
        let image = try await diskImage(
            key, options: options, isCurrent: isCurrent, orShared: origin == nil)
        guard let image else { return .none }
        storeInMemory(image, for: key, options: options, origin: origin)
        return .disk(image)
    }

    /// Where the image is cached; `nil` when a change of its file is still to be done, or when a subclass
    /// may know better. Looks at the disk on the calling thread.
    func imageCachedTypeIfSettled(_ key: ImageKey) -> CacheType? {
        if isSubclass { return nil }
        if memoryStorage.isCached(forKey: key.text) { return .memory }
        let name = key.fileName(in: self)
        if operations.pending(name) != nil { return nil }
        return diskStorage.files.contains(name) ? .disk : CacheType.none
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

    /// The image in memory, if any; with `origin`, only one that is of it.
    func memoryImage(
        _ key: ImageKey, options: KingfisherParsedOptionsInfo, of origin: ImageOrigin?
    ) -> KFCrossPlatformImage? {
        guard let origin else {
            return retrieveImageInMemoryCache(forKey: key.source, options: options)
        }
        guard let (image, found) = originatedImage(forKey: key.source, options: options),
            let found, found.record === origin.record
        else { return nil }
        return image
    }

    func originatedImage(
        forKey key: String, options: KingfisherParsedOptionsInfo
    ) -> (KFCrossPlatformImage, ImageOrigin?)? {
        let identifier = options.processor.identifier
        let extending = options.memoryCacheAccessExtendingExpiration
        // Nobody else leaves notes with images. The usual key is handed on as it is, here too.
        if identifier.isEmpty {
            return memoryStorage.notedValue(forKey: key, extendingExpiration: extending)
        }
        return memoryStorage.notedValue(
            forKey: key.computedKey(with: identifier), extendingExpiration: extending)
    }

    /// The rendered image on disk, if any. A file that is no image is removed. Waits for changes of the
    /// file asked for before, unless it is to be read on the calling thread. With `orShared`, also one that
    /// other machines have stored.
    func diskImage(
        _ key: ImageKey, options: KingfisherParsedOptionsInfo, isCurrent: (@Sendable () -> Bool)?,
        orShared: Bool = false
    ) async throws(KingfisherError) -> KFCrossPlatformImage? {
        let reading = DiskReading(
            cache: self, key: key, options: options, isCurrent: isCurrent)
        let asksOthers = orShared && shared != nil
        if options.loadDiskFileSynchronously {
            if let image = try reading.run() { return image }
            if !asksOthers { return nil }
        }
        var data = try await diskData(key, options: options, isCurrent: isCurrent)
        if data == nil, asksOthers {
            data = await bring(key, options: options, isCurrent: isCurrent)
        }
        guard let data, reading.isWanted else { return nil }
        switch await DecodingPool.shared.run({ reading.decode(data) }) {
        case .image(let image):
            return image
        case .unwanted:
            return nil
        case .undecodable:
            await removeFile(of: key, ifHolding: data)
            return nil
        }
    }

    /// The bytes of a file, if there is one; waits as `diskImage` does.
    func diskData(
        _ key: ImageKey, options: KingfisherParsedOptionsInfo, isCurrent: (@Sendable () -> Bool)?
    ) async throws(KingfisherError) -> Data? {
        let reading = DiskReading(
            cache: self, key: key, options: options, isCurrent: isCurrent)
        if options.loadDiskFileSynchronously { return try reading.read().get() }
        guard reading.isWanted else { return nil }
        await operations.pending(key.fileName(in: self))?.value
        return try await DiskLane.reading.run { reading.read() }.get()
    }

    /// Removes a file, unless it has been replaced since it was read as `data`.
    func removeFile(of key: ImageKey, ifHolding data: Data) async {
        let name = key.fileName(in: self)
        await operations.enqueue(.file(name)) { [diskStorage] in
            await DiskLane.writing.run {
                // A file that cannot be removed is found undecodable again next time.
                try? diskStorage.files.remove(name, ifHolding: data)
            }
        }.value
    }
}

/// The steps of reading an image from disk. Each may block.
private struct DiskReading: Sendable {
    enum Decoding: Sendable {
        case image(KFCrossPlatformImage)
        case undecodable
        case unwanted
    }

    let cache: ImageCache
    let key: ImageKey
    let options: KingfisherParsedOptionsInfo
    let isCurrent: (@Sendable () -> Bool)?

    var isWanted: Bool { isCurrent?() ?? true }

    func run() throws(KingfisherError) -> KFCrossPlatformImage? {
        guard isWanted, let data = try read().get(), isWanted else { return nil }
        switch decode(data) {
        case .image(let image): return image
        case .unwanted: return nil
        case .undecodable:
            // As above.
            try? cache.diskStorage.files.remove(key.fileName(in: cache), ifHolding: data)
            return nil
        }
    }

    func read() -> Result<Data?, KingfisherError> {
        Result {
            try cache.diskStorage.value(
                forKey: key.text, named: key.fileName(in: cache),
                extendingExpiration: options.diskCacheAccessExtendingExpiration)
        }.mapError { .disk($0, at: cache.diskStorage.directoryURL) }
    }

    func decode(_ data: Data) -> Decoding {
        guard var image = options.cacheSerializer.image(with: data, options: options) else {
            return .undecodable
        }
        guard isWanted else { return .unwanted }
        if options.cacheSerializer.originalDataUsed, !options.processor.identifier.isEmpty {
            // What is on disk is the original. It is processed here, before it gets into memory, so
            // that hits there no longer need it.
            guard
                let processed = options.processor.process(item: .image(image), options: options)
            else { return .undecodable }
            image = processed
        }
        do {
            _ = try image.bitmap()
            return .image(image.made(for: options.imageCreatingOptions))
        } catch {
            // What is wrong with a cached file is of no use to those who will load it anew.
            return .undecodable
        }
    }
}

extension KingfisherError {
    /// An error of the disk storage, which throws hardly anything else than this type.
    static func disk(_ error: any Error, at url: URL) -> KingfisherError {
        error as? KingfisherError
            ?? .cacheError(reason: .cannotLoadDataFromDisk(url: url, error: error))
    }
}

/// Look-ups of a subclass, by the methods that it may override.
extension ImageCache {
    /// Whether overridden methods have to be asked: the class itself is used without detours.
    var isSubclass: Bool { type(of: self) != ImageCache.self }

    /// The look-up of a subclass, by the method that it may override.
    func overriddenLookup(
        _ key: ImageKey, options: KingfisherParsedOptionsInfo, isCurrent: (@Sendable () -> Bool)?
    ) async throws(KingfisherError) -> ImageCacheResult {
        guard isCurrent?() ?? true else { return .none }
        let result: Result<ImageCacheResult, KingfisherError> = await handedOver { hand in
            retrieveImage(
                forKey: key.source, options: options, callbackQueue: .untouch,
                completionHandler: hand)
        }
        return try result.get()
    }

    /// Whether a subclass has an image in memory. The expiration stays as it is.
    func hasInMemoryByOverride(_ key: String, processorIdentifier: String) -> Bool {
        var options = Self.storeOptions(
            processorIdentifier: processorIdentifier, forcedExtension: nil,
            serializer: DefaultCacheSerializer.default)
        options.memoryCacheAccessExtendingExpiration = .none
        return retrieveImageInMemoryCache(forKey: key, options: options) != nil
    }

    /// Returns the original for an image to be processed, from memory or from disk; one from disk is not
    /// decoded yet, so that a smaller image can be made from its bytes without decoding it whole.
    ///
    /// Simultaneous requests get the same original, and so share the work on it.
    /// - Parameters:
    ///   - options: The options of the original, with the default processor; the others are as for `lookup`.
    ///   - retention: Lets the request share an original that other requests have used up meanwhile.
    func original(
        _ key: ImageKey, options: KingfisherParsedOptionsInfo, during retention: OriginalRetention?,
        isCurrent: (@Sendable () -> Bool)?, origin: ImageOrigin? = nil
    ) async throws(KingfisherError) -> ImageMaterial? {
        guard let lookup = LookupKey(key, options, of: origin) else {
            return try await material(key, options, isCurrent, origin)
        }
        let result: Result<ImageMaterial?, KingfisherError>? =
            await originals.wantedResult(
                for: lookup, during: retention?.retention, isWanted: isCurrent
            ) { work in
                let result = await Result { () async throws(KingfisherError) in
                    try await material(key, options, { work.isWanted }, origin)
                }
                if case .success(nil) = result, work.isGivenUp { return nil }
                return result
            }
        return try result?.get()
    }

    /// Keeps an original that a request may need, until `release()` is called.
    func retainOriginal(_ key: ImageKey, options: KingfisherParsedOptionsInfo) -> OriginalRetention?
    {
        LookupKey(key, options).map {
            OriginalRetention(cache: self, retention: originals.retain($0), options: options)
        }
    }

    private func material(
        _ key: ImageKey, _ options: KingfisherParsedOptionsInfo,
        _ isCurrent: (@Sendable () -> Bool)?, _ origin: ImageOrigin?
    ) async throws(KingfisherError) -> ImageMaterial? {
        if isSubclass {
            return try await overriddenLookup(key, options: options, isCurrent: isCurrent).image
                .map { ImageMaterial(.image($0)) }
        }
        if let image = memoryImage(key, options: options, of: origin),
            let item = ImageProcessItem(inMemory: image, options)
        {
            return ImageMaterial(item)
        }
        if options.fromMemoryCacheOrRefresh { return nil }
        var data = try await diskData(key, options: options, isCurrent: isCurrent)
        if data == nil, origin == nil {
            data = await bring(key, options: options, isCurrent: isCurrent)
        }
        guard let data, isCurrent?() ?? true else { return nil }
        // Only its header is read here: later steps may need fewer than all of its pixels.
        let image = await DecodingPool.shared.run {
            options.cacheSerializer.image(with: data, options: options)
        }
        guard let image else {
            await removeFile(of: key, ifHolding: data)
            return nil
        }
        return ImageMaterial(.image(image), file: data)
    }
}

extension ImageProcessItem {
    /// Creates an item from an original in memory, for a request that may want other frames than
    /// the one that stored it; `nil` if the original must be read anew.
    fileprivate init?(inMemory image: Image, _ options: KingfisherParsedOptionsInfo) {
        if image.hasFrames(of: options) {
            self = .image(image)
        } else if let data = image.animatedSource?.data {
            self = .data(data)
        } else if options.onlyLoadFirstFrame, let first = try? image.firstFrame() {
            self = .image(first)
        } else {
            return nil
        }
    }
}

extension Image {
    func hasFrames(of options: KingfisherParsedOptionsInfo) -> Bool {
        options.onlyLoadFirstFrame ? frameCount == 1 : !isFirstFrame
    }
}

/// A hold on an original that a request may need, until it is released.
struct OriginalRetention: Sendable {
    fileprivate let cache: ImageCache
    fileprivate let retention:
        SharedWork<LookupKey, Result<ImageMaterial?, KingfisherError>?>.Retention
    let options: KingfisherParsedOptionsInfo

    func release() {
        cache.originals.release(retention)
    }
}

/// The identity of a disk read: the key, the decoding options, and the serializer that decodes the
/// file's bytes.
final class LookupKey: Hashable, Sendable {
    let key: ImageKey
    private let creating: ImageCreatingOptions
    private let serializer: SerializerIdentity
    /// The generation of the required response; 0 for any origin.
    private let generation: Int64

    /// `nil` if the file must be read for one request alone, because its serializer cannot be
    /// compared with others.
    init?(_ key: ImageKey, _ options: KingfisherParsedOptionsInfo, of origin: ImageOrigin? = nil) {
        guard let serializer = SerializerIdentity(options.cacheSerializer) else { return nil }
        self.key = key
        self.serializer = serializer
        // Images stored by the program have a number that no response has.
        generation = origin.map { $0.record?.generation ?? -1 } ?? 0
        creating = options.imageCreatingOptions
    }

    static func == (left: LookupKey, right: LookupKey) -> Bool {
        left === right
            || left.key == right.key && left.creating == right.creating
                && left.serializer == right.serializer && left.generation == right.generation
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(key)
        hasher.combine(generation)
    }
}
