import Foundation
import Halcyon

extension Benchmark {
    /// Whole requests to the manager that need no work.
    static let requests: [Benchmark] = [
        Benchmark(
            "request: memory hit", unit: .nanoseconds,
            conditions: """
                10,000 awaited calls of KingfisherManager.retrieveImage for 100 URLs in the memory \
                cache, one after another; beside them what it costs to start a task and await it.
                """,
            targets: ["Task { }.value": 0.33]
        ) { workbench in
            let cache = try ImageCache(name: "request", cacheDirectoryURL: workbench.makeFolder())
            let manager = KingfisherManager(
                downloader: ImageDownloader(name: "request"), cache: cache)
            let sources = (0..<100).compactMap { number in
                URL(string: "https://images.example.com/albums/2024/photo-\(number).jpg")
                    .map { Source.network($0) }
            }
            let image = Image.blank(width: 64, height: 64)
            for source in sources {
                cache.memoryStorage.store(value: image, forKey: source.cacheKey)
            }
            let count = 10_000
            return Contest(
                ours: Contestant("KingfisherManager") {
                    try await Stopwatch.time(operations: count) {
                        for index in 0..<count {
                            let result = try await manager.retrieveImage(
                                with: sources[index % sources.count])
                            guard result.cacheType == .memory else {
                                throw BenchmarkError("The image was not in the memory cache")
                            }
                        }
                    }
                },
                peers: [
                    Contestant("Task { }.value") {
                        await Stopwatch.time(operations: count) {
                            for index in 0..<count {
                                consume(await Task { index }.value)
                            }
                        }
                    }
                ])
        }
    ]
}
