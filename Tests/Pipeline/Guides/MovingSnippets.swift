import Foundation
import Halcyon
import HalcyonTestKit

/// The code of the guides for who moves over from another library, as in `GuideSnippets`.
enum MovingSnippets {
    // MARK: From Kingfisher

    @MainActor static func builder(
        _ url: URL, _ lowResolution: URL, _ cache: ImageCache, _ imageView: HeadlessImageView,
        done: @escaping @MainActor @Sendable (CacheType) -> Void
    ) {
        // guide: from-kingfisher/builder
        KF.url(url)
            .setProcessor(DownsamplingImageProcessor(size: CGSize(width: 200, height: 200)))
            .targetCache(cache)
            .lowDataModeSource(.network(lowResolution))
            .loadDiskFileSynchronously()
            .cacheMemoryOnly()
            .fade(duration: 0.25)
            .onSuccess { result in done(result.cacheType) }
            .set(to: imageView)
        // end
    }

    static func server(_ directory: URL) throws -> KingfisherManager {
        // guide: from-kingfisher/server
        let cache = try ImageCache(name: "service", cacheDirectoryURL: directory)
        cache.memoryStorage.config.totalCostLimit = 256 << 20
        cache.diskStorage.config.sizeLimit = 10 << 30
        let manager = KingfisherManager(
            downloader: ImageDownloader(name: "service"), cache: cache)
        manager.defaultOptions = [.httpCaching(.on)]
        // end
        return manager
    }

    // MARK: From Nuke

    static func pipeline(_ manager: KingfisherManager, _ url: URL) async throws -> Image {
        // guide: from-nuke/image
        let processor =
            ResizingImageProcessor(
                referenceSize: CGSize(width: 96, height: 96), mode: .aspectFill)
            |> CroppingImageProcessor(
                size: CGSize(width: 96, height: 96), anchor: CGPoint(x: 0.5, y: 0.5))
            |> RoundCornerImageProcessor(radius: .widthFraction(0.5))
        let response = try await manager.retrieveImage(
            with: url, options: [.processor(processor), .downloadPriority(1)])
        let image = response.image
        // end
        return image
    }

    static func bytes(_ downloader: ImageDownloader, _ url: URL) async throws -> Data {
        // guide: from-nuke/data
        let data = try await downloader.downloadImage(with: url).originalData
        // end
        return data
    }

    static func originals() -> KingfisherOptionsInfo {
        // guide: from-nuke/policy
        let options: KingfisherOptionsInfo = [
            .processor(DownsamplingImageProcessor(size: CGSize(width: 64, height: 64))),
            .cacheOriginalImage,
        ]
        // end
        return options
    }

    // MARK: From SDWebImage

    @MainActor static func view(
        _ url: URL, _ placeholder: Image, _ imageView: HeadlessImageView,
        done: @escaping @MainActor @Sendable (String) -> Void
    ) {
        // guide: from-sdwebimage/view
        imageView.kf.setImage(
            with: url, placeholder: placeholder,
            options: [.retryStrategy(DelayRetryStrategy(maxRetryCount: 2))]
        ) { result in
            switch result {
            case .success(let value): done("from \(value.cacheType)")
            case .failure(let error): done(error.localizedDescription)
            }
        }
        // end
    }

    static func refresh() -> KingfisherOptionsInfo {
        // guide: from-sdwebimage/refresh
        var caching = HTTPCaching.on
        caching.staleWhileRevalidate = .upTo(86_400)
        let options: KingfisherOptionsInfo = [.httpCaching(caching)]
        // end
        return options
    }

    // MARK: Which option when

    static func list() -> KingfisherOptionsInfo {
        // guide: which-option/list
        let options: KingfisherOptionsInfo = [
            .processor(DownsamplingImageProcessor(size: CGSize(width: 120, height: 120))),
            .scaleFactor(2),
            .cacheOriginalImage,
            .transition(.fade(0.2)),
        ]
        // end
        return options
    }

    static func smallFiles() -> KingfisherOptionsInfo {
        // guide: which-option/room
        let options: KingfisherOptionsInfo = [
            .processor(DownsamplingImageProcessor(size: CGSize(width: 48, height: 48))),
            .cacheSerializer(FormatIndicatedCacheSerializer.webp(compressionQuality: 0.8)),
            .diskCacheExpiration(.days(30)),
        ]
        // end
        return options
    }

    static func ends(
        _ manager: KingfisherManager, _ url: URL, show: (Image) -> Void
    ) async throws {
        // guide: which-option/ends
        do {
            let result = try await manager.retrieveImage(
                with: url, options: [.downloadPriority(0.9)])
            show(result.image)
        } catch let error as KingfisherError where error.isCancelled {
            // Nobody wants it any more.
        } catch is CancellationError {
            // The task was cancelled before the request had begun.
        }
        // end
    }

    // guide: which-option/actor
    actor Album {
        private(set) var pages: [URL: Image] = [:]

        func add(_ url: URL, by manager: KingfisherManager) async throws {
            pages[url] = try await manager.retrieveImage(with: url).image
        }
    }
    // end

    static func failures() -> KingfisherOptionsInfo {
        // guide: which-option/failures
        var caching = HTTPCaching.on
        caching.negative = .on(statuses: [404, 410], lifetime: 60)
        let options: KingfisherOptionsInfo = [
            .httpCaching(caching),
            .retryStrategy(
                DelayRetryStrategy(
                    maxRetryCount: 3, retryInterval: .exponential(base: 1, limit: 30))),
        ]
        // end
        return options
    }

    static func limits(_ downloader: ImageDownloader) -> KingfisherOptionsInfo {
        // guide: which-option/uploads
        downloader.maximumResponseSize = 10 << 20
        let options: KingfisherOptionsInfo = [
            .decodingLimits(DecodingLimits(maximumPixelCount: 24_000_000)),
            .onlyLoadFirstFrame,
        ]
        // end
        return options
    }
}
