public import Foundation
import HalcyonWork

extension ImageCache {
    /// Creates the cache `name` in the user's cache folder, with a third level shared with the
    /// caches of this name on other machines: an image loaded or made by one of them is available
    /// to the others.
    ///
    /// The third level is read after a miss in memory and on disk; a hit is written to the disk,
    /// and counts as a disk hit (`CacheType.disk`). Images written to the disk by the program or a
    /// request are also stored there, with their expiration; `waitForCache` waits for that.
    /// ``removeImage(forKey:processorIdentifier:forcedExtension:fromMemory:fromDisk:)`` also
    /// removes an image there, if it removes from disk; cleaning and clearing affect only this
    /// machine. With HTTP caching, the freshness information of the server comes with its images,
    /// and only responses that a shared cache may store are shared.
    ///
    /// A failing storage costs only the time until its error: images are then loaded and made here.
    public convenience init(name: String, shared: any SharedImageStorage) {
        self.init(
            memoryStorage: Self.makeMemoryStorage(),
            diskStorage: DiskStorage.Backend(noThrowConfig: Self.diskConfig(name)), shared: shared)
    }

    /// Creates the cache in `cacheDirectoryURL`; see ``init(name:shared:)``.
    /// - Throws: `KingfisherError`, 3005, when the folder cannot be made.
    public convenience init(
        name: String, cacheDirectoryURL: URL?, shared: any SharedImageStorage
    ) throws {
        self.init(
            memoryStorage: Self.makeMemoryStorage(),
            diskStorage: try DiskStorage.Backend(
                config: Self.diskConfig(name, in: cacheDirectoryURL)), shared: shared)
    }

    /// The storage shared with other machines; `nil` if there is none.
    public var sharedStorage: (any SharedImageStorage)? { shared?.storage }

    /// Shares a file being written to the disk with other machines, if they may have it.
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

    /// Fetches a file that other machines have stored, and begins to write it to the disk; `nil` if there
    /// is no valid file, or if this machine's state is newer.
    ///
    /// - Parameter responseKey: The request's key, needed if the file belongs to a response under it.
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

    /// Adopts another machine's state of a response, unless this machine's is newer and has other
    /// bytes.
    private func adopt(
        _ response: SharedResponse, as responseKey: String?, options: KingfisherParsedOptionsInfo
    ) async -> StatedOrigin? {
        let caching = options.asksForHTTPCaching ? options.httpCaching : .on
        let policy = HTTPCachePolicy(caching)
        // A key with secrets is known by its digest.
        let isOfRequest = responseKey.map { CachedResponses.rowKey($0) == response.key } ?? false
        let key = isOfRequest ? responseKey ?? response.key : response.key
        let (stored, body) = (response.stored, response.body)
        let known = await DiskLane.reading.run { [responses] in responses.read(key, under: policy) }
        let record =
            responses.adopt(stored, key, body: body, over: [], under: policy)
            ?? known.first { $0.body == body && $0.stored.variant == stored.variant }
        guard let record else { return nil }
        record.allowSharing()
        // Redirects leading to the response on the other machine are not stored here.
        return StatedOrigin(ImageOrigin(record: record, way: [nil]))
    }
}
