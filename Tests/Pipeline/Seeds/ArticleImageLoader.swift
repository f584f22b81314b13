import Foundation

@testable import Halcyon

enum ImageError: Error {
    case invalidURL
    case invalidImageData
    case downsamplingFailed
}

/// The loader that an article builds by hand, with the same interface: what it does itself is what
/// Halcyon does for it.
actor ArticleImageLoader {
    private let manager: KingfisherManager

    init(downloader: ImageDownloader, directory: URL) throws {
        let memory = MemoryStorage.Backend<KFCrossPlatformImage>(
            config: .init(totalCostLimit: 50 * 1024 * 1024))
        memory.config.countLimit = 100
        let disk = DiskStorage.Config(name: "ImageCache", sizeLimit: 0, directory: directory)
        let cache = ImageCache(
            memoryStorage: memory, diskStorage: try DiskStorage.Backend(config: disk))
        cache.wipeDisk(whenUnusedFor: 24 * 60 * 60)
        manager = KingfisherManager(downloader: downloader, cache: cache)
        manager.defaultOptions = [
            .cacheSerializer(TransparencyPreservingCacheSerializer()), .waitForCache,
        ]
    }

    nonisolated var cache: ImageCache { manager.cache }

    func loadImage(
        from url: URL, targetSize: CGSize? = nil, isSticker: Bool = false
    ) async throws -> Image {
        var options = KingfisherOptionsInfo()
        if let targetSize = targetSize {
            options.append(.processor(DownsamplingImageProcessor(size: targetSize)))
        }
        return try await manager.retrieveImage(with: url, options: options).image
    }

    func loadFourCutImages(frameUrl: String, imageUrls: [String]) async throws -> (Image?, [Image])
    {
        var frameImage: Image? = nil
        var images: [Image] = Array(repeating: Image(), count: imageUrls.count)
        guard let frameUrl = URL(string: frameUrl) else {
            throw ImageError.invalidURL
        }
        try await withThrowingTaskGroup(of: (Int, Image).self) { group in
            group.addTask {
                do {
                    let image = try await self.loadImage(
                        from: frameUrl, targetSize: CGSize(width: 1024, height: 1024))
                    return (-1, image)
                } catch {
                    throw error
                }
            }

            for (index, urlString) in imageUrls.enumerated() {
                guard let url = URL(string: urlString) else {
                    throw ImageError.invalidURL
                }
                group.addTask {
                    let image = try await self.loadImage(
                        from: url, targetSize: CGSize(width: 640, height: 640))
                    return (index, image)

                }
            }
            for try await (index, image) in group {
                if index == -1 {
                    frameImage = image
                } else if index >= 0 && index < images.count {
                    images[index] = image
                }
            }
        }

        return (frameImage, images)
    }

    func clearCache() async {
        await manager.cache.clearCache()
    }
}

extension Image {
    /// An image of one transparent pixel, as the toolkit's image class has it.
    fileprivate convenience init() {
        self.init(bitmap: Bitmap(pixels: Data(count: 4), size: PixelSize(width: 1, height: 1))!)
    }
}
