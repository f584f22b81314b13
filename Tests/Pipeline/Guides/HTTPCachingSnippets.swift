import Foundation
import Halcyon
import HalcyonTestKit

/// The code of the guide to HTTP caching, as in `GuideSnippets`.
enum HTTPCachingSnippets {
    static func users(
        _ manager: KingfisherManager, _ url: URL, userName: String
    ) async throws -> RetrieveImageResult {
        // guide: http-caching/users
        var caching = HTTPCaching.on
        caching.partition = userName
        let result = try await manager.retrieveImage(with: url, options: [.httpCaching(caching)])
        // end
        return result
    }

    static func request(_ manager: KingfisherManager, _ url: URL) async throws -> String {
        // guide: http-caching/request
        let result = try await manager.retrieveImage(with: url, options: [.httpCaching(.on)])
        let story =
            switch result.httpCacheUse {
            case .fetched: "sent by the server"
            case .fresh: "cached, and the server was not asked"
            case .validated: "cached, and the server says that it is still good"
            case .stale: "cached, and its time is over"
            case nil: "not loaded by the rules of HTTP"
            }
        // end
        return story
    }

    static func manager(_ manager: KingfisherManager) {
        // guide: http-caching/manager
        manager.defaultOptions = [.httpCaching(.on)]
        // end
    }

    static func settings() -> HTTPCaching {
        // guide: http-caching/settings
        var caching = HTTPCaching.on
        caching.staleWhileRevalidate = .upTo(600)
        caching.staleIfError = .upTo(86_400)
        caching.heuristicFraction = 0
        // end
        return caching
    }

    static func event(
        _ caching: HTTPCaching, show: @escaping @Sendable (Image) -> Void,
        report: @escaping @Sendable (KingfisherError) -> Void
    ) -> KingfisherOptionsInfo {
        // guide: http-caching/event
        let options: KingfisherOptionsInfo = [
            .httpCaching(caching),
            .onHTTPRevalidation { found in
                switch found {
                case .unchanged: break
                case .changed(let result): show(result.image)
                case .failed(let error): report(error)
                }
            },
        ]
        // end
        return options
    }

    @MainActor static func view(
        _ url: URL, _ cache: ImageCache, _ downloader: ImageDownloader, _ caching: HTTPCaching,
        _ imageView: HeadlessImageView, note: @escaping @MainActor @Sendable (String) -> Void
    ) {
        // guide: http-caching/view
        KF.url(url)
            .targetCache(cache)
            .downloader(downloader)
            .httpCaching(caching)
            .transition(.fade(0.3))
            .onRevalidated { found in note("\(found)") }
            .set(to: imageView)
        // end
    }

    static func offline(_ manager: KingfisherManager, _ url: URL) async throws -> Image {
        // guide: http-caching/offline
        let image = try await manager.retrieveImage(
            with: url, options: [.httpCaching(.on), .onlyFromCache]
        ).image
        // end
        return image
    }

    static func negative() -> HTTPCaching {
        // guide: http-caching/negative
        var caching = HTTPCaching.on
        caching.negative = .on(statuses: [404, 410], lifetime: 30, limit: 300)
        // end
        return caching
    }

    static func retry() -> DelayRetryStrategy {
        // guide: http-caching/retry
        let retries = DelayRetryStrategy(
            maxRetryCount: 4, retryInterval: .exponential(base: 1, limit: 30),
            maximumRetryAfter: 120)
        // end
        return retries
    }

    static func pause(_ downloader: ImageDownloader, _ url: URL) -> Date? {
        // guide: http-caching/pause
        downloader.honorsServerPause = true
        let end = downloader.serverPause(for: url)
        // end
        return end
    }

    static func signed(
        _ manager: KingfisherManager, _ cache: ImageCache, _ url: URL
    ) async throws -> Bool {
        // guide: http-caching/signed
        let result = try await manager.retrieveImage(
            with: url, options: [.httpCaching(.on), .cacheKeyNormalizer(.signedURLs)])
        let isCached = cache.isCached(forKey: CacheKeyNormalizer.signedURLs.key(for: url))
        // end
        return isCached && result.image.pixelSize.width > 0
    }

    static func resume(_ downloader: ImageDownloader) {
        // guide: http-caching/resume
        downloader.resumption = DownloadResumption(sizeLimit: 100 << 20, expiration: .days(7))
        // end
    }

    static func look(_ cache: ImageCache, _ url: URL) async throws -> String? {
        // guide: http-caching/look
        let response = try await cache.httpResponse(forKey: url.absoluteString)
        let summary = response.map { response in
            let tag = response.value(of: "ETag") ?? "none"
            return "\(response.status), fresh until \(response.freshUntil), tag \(tag)"
        }
        // end
        return summary
    }

    static func invalidate(_ cache: ImageCache, _ url: URL) async throws {
        // guide: http-caching/invalidate
        try await cache.invalidateResponses(forKey: url.absoluteString)
        try await cache.invalidateResponses(matching: "https://example.org/avatars/*")
        // end
    }
}
