import Foundation
import FoundationNetworking
import HalcyonTestKit

@testable import Halcyon

/// A public function with a handler whose work may need the disk or the network.
///
/// Everything is as quick as it can be: the files are tiny, nothing is kept of what is stored, and the network
/// answers at once.
enum HandledCall: String, CaseIterable, Sendable {
    case lookUpOnDisk, lookUp, cachedType
    case store, storeToDisk, remove, diskSize, cleanDisk
    case retrieve, retrieveSet, retrieveEach, compose
    case download, downloadLivePhoto

    /// Calls the function, which calls `done` by its handler. What it is asked for goes by `number`.
    func begin(in world: HandledCallWorld, number: Int, done: @escaping @Sendable () -> Void) {
        switch self {
        case .lookUpOnDisk, .lookUp, .cachedType: look(in: world, number, done)
        case .store, .storeToDisk, .remove, .diskSize, .cleanDisk: change(world, number, done)
        case .retrieve, .retrieveSet, .retrieveEach, .compose: request(from: world, number, done)
        case .download, .downloadLivePhoto: download(in: world, number, done)
        }
    }

    private func look(
        in world: HandledCallWorld, _ number: Int, _ done: @escaping @Sendable () -> Void
    ) {
        let (cache, options) = (world.cache, world.items)
        let key = number % 2 == 0 ? "1" : "nothing"
        switch self {
        case .lookUpOnDisk:
            cache.retrieveImageInDiskCache(forKey: key, options: options) { _ in done() }
        case .lookUp where number % 4 < 2:
            cache.retrieveImage(forKey: key, options: options, callbackQueue: .untouch) { _ in
                done()
            }
        case .lookUp:
            cache.retrieveImage(
                forKey: key, options: KingfisherParsedOptionsInfo(options), callbackQueue: .untouch
            ) { _ in done() }
        default: cache.imageCachedTypeAsync(forKey: key, callbackQueue: .untouch) { _ in done() }
        }
    }

    private func change(
        _ world: HandledCallWorld, _ number: Int, _ done: @escaping @Sendable () -> Void
    ) {
        let cache = world.cache
        let options = KingfisherParsedOptionsInfo(world.items)
        switch self {
        case .store where number % 3 == 0:
            cache.store(world.image, forKey: "2", options: options) { _ in done() }
        case .store where number % 3 == 1:
            cache.store(world.wideImage, forKey: "2", cacheSerializer: PixelSerializer()) { _ in
                done()
            }
        case .store:
            // Not rendered yet.
            let image = world.image.kf.crop(to: CGSize(width: 1, height: 1), anchorOn: .zero)
            cache.store(image, forKey: "2", options: options, toDisk: false) { _ in done() }
        case .storeToDisk:
            cache.storeToDisk(Data([1]), forKey: "2", expiration: .expired) { _ in done() }
        case .remove: cache.removeImage(forKey: "2") { done() }
        case .diskSize: cache.calculateDiskStorageSize { _ in done() }
        default: cache.cleanExpiredDiskCache { done() }
        }
    }

    private func request(
        from world: HandledCallWorld, _ number: Int, _ done: @escaping @Sendable () -> Void
    ) {
        let (manager, missing) = (world.manager, URL(string: "http://example.com/missing.png")!)
        switch self {
        case .retrieve where number % 5 == 0:
            manager.retrieveImage(with: missing, options: [.onlyFromCache]) { _ in done() }
        case .retrieve where number % 5 == 1:
            manager.retrieveImage(with: world.cached) { _ in done() }
        case .retrieve where number % 5 == 2:
            // Made of the original on disk.
            manager.retrieveImage(
                with: world.cached, options: [.processor(BlackWhiteProcessor()), .cacheMemoryOnly]
            ) { _ in done() }
        case .retrieve where number % 5 == 3:
            let provider = RawImageDataProvider(data: Data([1]), cacheKey: "raw")
            manager.retrieveImage(with: .provider(provider), options: world.loading) { _ in done() }
        case .retrieve: manager.retrieveImage(with: missing, options: world.loading) { _ in done() }
        case .retrieveSet where number % 2 == 0:
            manager.retrieveImages(with: [missing], options: [.onlyFromCache]) { _ in done() }
        case .retrieveSet: manager.retrieveImages(with: [world.cached]) { _ in done() }
        case .retrieveEach:
            manager.retrieveEachImage(with: [missing], options: [.onlyFromCache]) { _ in done() }
        default:
            manager.retrieveComposition(world.layout, photos: [.network(world.cached)]) { _ in
                done()
            }
        }
    }

    private func download(
        in world: HandledCallWorld, _ number: Int, _ done: @escaping @Sendable () -> Void
    ) {
        let (downloader, url) = (world.downloader, world.cached)
        let options = number % 4 == 0 ? world.refusing : world.loading
        switch self {
        case .download where number % 4 == 1:
            downloader.downloadImage(with: url, options: options) { _ in done() }
        case .download where number % 4 == 2:
            downloader.downloadImage(
                with: url, options: options, progressBlock: { _, _ in }
            ) { _ in done() }
        case .download:
            downloader.downloadImage(
                with: url, options: KingfisherParsedOptionsInfo(options)
            ) { _ in done() }
        default:
            downloader.downloadLivePhotoResource(
                with: url, options: KingfisherParsedOptionsInfo(options)
            ) { _ in done() }
        }
    }
}

/// What the calls use: a cache with the tiny images "1" and `cached` on its disk.
struct HandledCallWorld: Sendable {
    let folder: TemporaryDirectory
    let cache: ImageCache
    let downloader = ImageDownloader(name: "test", transport: ScriptedTransport(body: Data([1])))
    let manager: KingfisherManager
    let image = testImage()
    /// Too wide to be written.
    let wideImage = testImage(width: 300)
    let cached = URL(string: "http://example.com/cached.png")!
    let layout = PhotoLayout(
        size: CGSize(width: 2, height: 2),
        slots: [PhotoLayout.Slot(rect: CGRect(x: 0, y: 0, width: 2, height: 2))])
    /// For the cache.
    let items: KingfisherOptionsInfo = [
        .cacheSerializer(PixelSerializer()), .callbackQueue(.untouch),
        .diskCacheExpiration(.expired),
    ]
    /// For what is loaded, and not to be cached.
    let loading: KingfisherOptionsInfo = [
        .forceRefresh, .processor(FirstByteProcessor()), .callbackQueue(.untouch), .cacheMemoryOnly,
    ]
    /// For a download that has nothing to send.
    let refusing: KingfisherOptionsInfo = [
        .requestModifier(AnyModifier { _ in nil }), .callbackQueue(.untouch),
    ]

    init() async throws {
        folder = try TemporaryDirectory()
        cache = try ImageCache(name: "test", cacheDirectoryURL: folder.url)
        manager = KingfisherManager(downloader: downloader, cache: cache)
        let serializer = PixelSerializer()
        manager.defaultOptions = [.callbackQueue(.untouch), .cacheSerializer(serializer)]
        for key in ["1", cached.cacheKey] {
            try await cache.store(image, forKey: key, cacheSerializer: serializer)
        }
        forget()
    }

    /// Leaves nothing in memory.
    func forget() { cache.memoryStorage.removeAll() }
}
