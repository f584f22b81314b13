public import Foundation
import HalcyonHTTP
import HalcyonStorage
import HalcyonWork

extension ImageCache {
    /// The cache `name` in the user's folder for caches, with a third level that it shares with the caches of
    /// this name on other machines: what one of them has loaded or made, the others need not.
    ///
    /// The third level is asked when an image is neither in memory nor on the disk; what is found there is
    /// written to the disk, and counts as found on the disk (`CacheType.disk`). What a program or a request
    /// writes to the disk is stored there, too, with the time when it expires; `waitForCache` waits for that.
    /// ``removeImage(forKey:processorIdentifier:forcedExtension:fromMemory:fromDisk:)`` removes an image
    /// there, as far as it removes from disk; cleaning and clearing concern this machine. With HTTP caching,
    /// a server's words about freshness come with its images, and only what a shared cache may keep is shared.
    ///
    /// A storage that fails costs the time until it says so: images are then loaded and made here.
    public convenience init(name: String, shared: any SharedImageStorage) {
        precondition(!name.isEmpty, "a cache needs a name")
        self.init(
            memoryStorage: Self.makeMemoryStorage(),
            diskStorage: DiskStorage.Backend(
                noThrowConfig: DiskStorage.Config(name: name, sizeLimit: 0),
                creatingDirectory: true), shared: shared)
    }

    /// The same in `cacheDirectoryURL`.
    /// - Throws: `KingfisherError`, 3005, when the folder cannot be made.
    public convenience init(
        name: String, cacheDirectoryURL: URL?, shared: any SharedImageStorage
    ) throws {
        precondition(!name.isEmpty, "a cache needs a name")
        self.init(
            memoryStorage: Self.makeMemoryStorage(),
            diskStorage: try DiskStorage.Backend(
                config: DiskStorage.Config(name: name, sizeLimit: 0, directory: cacheDirectoryURL)),
            shared: shared)
    }

    /// What this cache shares with other machines; `nil` for nothing.
    public var sharedStorage: (any SharedImageStorage)? { shared?.storage }

    /// Gives other machines what is being written to the disk, if they may have it.
    func share(
        _ bytes: Data, for key: ImageKey, expiration: StorageExpiration?, _ stated: StatedOrigin?
    ) {
        guard let shared else { return }
        let origin: SharedFile.Origin
        if let record = stated?.origin.record {
            guard let response = SharedResponse(record) else { return }
            origin = .response(response)
        } else {
            origin = stated == nil ? .unknown : .program
        }
        let lifetime = (expiration ?? diskStorage.config.expiration).timeInterval
        guard lifetime > 0 else { return }
        let expires = lifetime.isFinite ? Date(timeIntervalSinceNow: lifetime) : nil
        shared.store(
            SharedFile(bytes: bytes, expires: expires, origin: origin), as: shared.name(of: key))
    }

    /// Fetches a file that other machines have stored, and begins to write it to the disk.
    ///
    /// - Parameters:
    ///   - responseKey: That of the request, for the case that the file is of a response under it.
    ///   - isCurrent: Whether anyone still wants it.
    /// - Returns: Its bytes; `nil` when there is none that is good, or what is known here is newer.
    @discardableResult
    func bring(
        _ key: ImageKey, options: KingfisherParsedOptionsInfo, responseKey: String? = nil,
        isCurrent: (@Sendable () -> Bool)? = nil
    ) async -> Data? {
        guard let shared, isCurrent?() ?? true else { return nil }
        let name = shared.name(of: key)
        return await shared.fetches.result(for: name) { _ in
            guard let file = await shared.file(name) else { return nil }
            if let expires = file.expires, expires <= Date() { return nil }
            var stated: StatedOrigin?
            switch file.origin {
            case .unknown: break
            case .program: stated = .program
            case .response(let response):
                stated = await adopt(response, as: responseKey, options: options)
                if stated == nil { return nil }
            }
            if !options.cacheMemoryOnly {
                _ = startWriting(
                    file.bytes, for: key, expiration: file.expires.map { .date($0) } ?? .never,
                    stated: stated, isShared: true)
            }
            return file.bytes
        }
    }

    /// Takes over what another machine knows of a response, unless what is known here is newer and of other
    /// bytes.
    private func adopt(
        _ response: SharedResponse, as responseKey: String?, options: KingfisherParsedOptionsInfo
    ) async -> StatedOrigin? {
        let caching = options.asksForHTTPCaching ? options.httpCaching : .on
        let policy = HTTPCachePolicy(caching)
        // One with secrets in it is known by its digest.
        let isOfRequest = responseKey.map { CachedResponses.rowKey($0) == response.key } ?? false
        let key = isOfRequest ? responseKey ?? response.key : response.key
        let (stored, body) = (response.stored, response.body)
        let known = await DiskLane.reading.run { [responses] in responses.read(key, under: policy) }
        let record =
            responses.adopt(stored, key, body: body, over: [], under: policy)
            ?? known.first { $0.body == body && $0.stored.variant == stored.variant }
        guard let record else { return nil }
        record.allowSharing()
        // Redirects that led there on the other machine are not stored here.
        return StatedOrigin(ImageOrigin(record: record, way: [nil]))
    }
}
