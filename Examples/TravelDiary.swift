import Foundation
import Halcyon

/// The loader of a travel diary: photographs and stickers, and four photographs in a frame.
actor ImageLoader {
    static let shared = ImageLoader(cache: ImageCache(name: "ImageCache"))
    private let manager: KingfisherManager

    init(cache: ImageCache, downloader: ImageDownloader = .default) {
        cache.memoryStorage.config.countLimit = 100
        cache.memoryStorage.config.totalCostLimit = 50 * 1024 * 1024
        // A diary is open every day of a journey, and then not for months.
        cache.wipeDisk(whenUnusedFor: 24 * 60 * 60)
        manager = KingfisherManager(downloader: downloader, cache: cache)
    }

    func loadImage(
        from url: URL, targetSize: CGSize? = nil, isSticker: Bool = false
    ) async throws -> Image {
        try await manager.retrieveImage(
            with: url, options: options(targetSize: targetSize, isSticker: isSticker)
        ).image
    }

    /// One picture of a frame and four photographs, which are loaded side by side: all of it or an error.
    func loadFourCut(frame: URL, photos: [URL], width: CGFloat = 1024) async throws -> Image {
        let size = CGSize(width: width, height: width / PhotoLayout.fourCutAspectRatio)
        return try await manager.retrieveComposition(
            .fourCut(size: size), photos: photos.map { $0.convertToSource() },
            frame: frame.convertToSource(),
            options: options(targetSize: CGSize(width: 640, height: 640)),
            frameOptions: options(targetSize: CGSize(width: 1024, height: 1024)))
    }

    func clearCache() async {
        await manager.cache.clearCache()
    }

    private func options(targetSize: CGSize?, isSticker: Bool = false) -> KingfisherOptionsInfo {
        let format: FormatIndicatedCacheSerializer =
            isSticker ? .png : .jpeg(compressionQuality: 0.8)
        let processor = targetSize.map { DownsamplingImageProcessor(size: $0) }
        // An image is on disk when it is returned.
        return [.cacheSerializer(format), .waitForCache]
            + (processor.map { [.processor($0)] } ?? [])
    }
}

enum TravelDiary {
    /// Writes the picture of a frame and four photographs.
    static func run(_ arguments: [String], loader: ImageLoader = .shared) async -> Int32 {
        guard arguments.count == 6 else {
            complain("usage: diary FRAME PHOTO PHOTO PHOTO PHOTO OUTPUT.jpg")
            return 64
        }
        do {
            let picture = try await loader.loadFourCut(
                frame: URL(argument: arguments[0]),
                photos: arguments[1...4].map { URL(argument: $0) })
            try picture.kf.data(format: .JPEG, options: ImageEncodingOptions(quality: 0.8))
                .write(to: URL(fileURLWithPath: arguments[5]))
            return 0
        } catch {
            complain(error.localizedDescription)
            return 1
        }
    }
}
