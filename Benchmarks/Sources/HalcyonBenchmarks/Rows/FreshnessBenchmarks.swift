import Foundation
import Halcyon

extension Benchmark {
    /// Images that are as good as their server says.
    static let freshness: [Benchmark] = [
        Benchmark(
            "request: memory hit, HTTP caching", unit: .nanoseconds,
            conditions: """
                10,000 awaited calls of KingfisherManager.retrieveImage for 100 URLs whose images are in memory \
                and fresh, of a manager with .httpCaching(.on) as a default option, against one without.
                """,
            targets: ["without": 0.9]
        ) { workbench in
            let origin = try await workbench.origin()
            let cache = try ImageCache(name: "fresh", cacheDirectoryURL: workbench.makeFolder())
            let downloader = ImageDownloader(name: "fresh")
            let plain = KingfisherManager(downloader: downloader, cache: cache)
            let manager = KingfisherManager(downloader: downloader, cache: cache)
            manager.defaultOptions = [.httpCaching(caching { $0.fallbackLifetime = 86_400 })]
            let urls = FreshURLs(origin: origin, file: "400.jpg").next(100)
            for url in urls {
                _ = try await manager.retrieveImage(with: url, options: [.waitForCache])
            }
            @Sendable func hits(_ manager: KingfisherManager) async throws -> Sample {
                let count = 10_000
                return try await Stopwatch.time(operations: count) {
                    for index in 0..<count {
                        let result = try await manager.retrieveImage(
                            with: urls[index % urls.count])
                        guard result.cacheType == .memory else {
                            throw BenchmarkError("The image was not in the memory cache")
                        }
                    }
                }
            }
            return Contest(
                ours: Contestant("with HTTP caching") { try await hits(manager) },
                peers: [Contestant("without") { try await hits(plain) }])
        },
        revisit("validated", .never, connections: 100, target: 2),
        revisit("shown while they are revalidated", .asAllowed, connections: 6, target: 10),
        Benchmark(
            "200 stale pictures, validated: decodes", unit: .count(of: "decodes"),
            conditions: """
                200 pictures reduced to 100 px in memory, all stale and none changed, until all are there, \
                against loading all anew; runs of the processor.
                """,
            enoughRounds: 3
        ) { workbench in
            let origin = try await workbench.origin()
            let cache = try ImageCache(name: "stale", cacheDirectoryURL: workbench.makeFolder())
            let manager = KingfisherManager(
                downloader: ImageDownloader(name: "stale"), cache: cache)
            let caching = caching { $0.staleWhileRevalidate = .never }
            let urls = FreshURLs(origin: origin, file: "stale/100kb.jpg").next(200)
            let processor = CountingProcessor()
            @Sendable func decodes(_ options: KingfisherOptionsInfo) async throws -> Sample {
                let before = processor.runs
                try await concurrently(urls.count, width: urls.count) { index in
                    consume(
                        try await manager.retrieveImage(
                            with: urls[index],
                            options: options + [.httpCaching(caching), .processor(processor)]))
                }
                return .amount(Double(processor.runs - before))
            }
            _ = try await decodes([.waitForCache])
            return Contest(
                ours: Contestant("with HTTP caching") { try await decodes([]) },
                peers: [Contestant("reload") { try await decodes([.forceRefresh]) }])
        },
    ]

    private static func caching(_ change: (inout HTTPCaching) -> Void) -> HTTPCaching {
        var caching = HTTPCaching.on
        change(&caching)
        return caching
    }

    /// 200 pictures that were loaded before and are stale.
    private static func revisit(
        _ how: String, _ staleUse: HTTPCaching.StaleUse, connections: Int, target: Double
    ) -> Benchmark {
        Benchmark(
            "200 stale pictures, \(how)", unit: .milliseconds,
            conditions: """
                200 pictures of 100 KB in memory, all stale and none changed at an origin that answers after \
                50 ms, until all are there, against loading all anew; \(connections) connections.
                """,
            enoughRounds: 5, targets: ["reload": target]
        ) { workbench in
            let origin = try await workbench.origin()
            let cache = try ImageCache(name: "stale", cacheDirectoryURL: workbench.makeFolder())
            let manager = KingfisherManager(
                downloader: ImageDownloader(name: "stale"), cache: cache)
            // 100 requests at once are what HTTP/2 has over one connection.
            manager.downloader.maximumConnectionsPerHost = connections
            let caching = caching { $0.staleWhileRevalidate = staleUse }
            let urls = FreshURLs(origin: origin, file: "stale/100kb.jpg").next(200)
            @Sendable func load(_ options: KingfisherOptionsInfo) async throws -> Sample {
                try await Stopwatch.time {
                    try await concurrently(urls.count, width: urls.count) { index in
                        consume(
                            try await manager.retrieveImage(
                                with: urls[index], options: options + [.httpCaching(caching)]))
                    }
                }
            }
            _ = try await load([.waitForCache])
            return Contest(
                ours: Contestant("with HTTP caching") { try await load([]) },
                peers: [Contestant("reload") { try await load([.forceRefresh]) }])
        }
    }
}
