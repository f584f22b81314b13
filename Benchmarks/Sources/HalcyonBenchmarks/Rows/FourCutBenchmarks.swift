import Foundation
import Halcyon
import Synchronization

extension Benchmark {
    /// Five photos for one picture, from an origin server that takes its time.
    static let fourCut: [Benchmark] = [
        fiveJPEGs("400x300", file: "400.jpg"),
        fiveJPEGs("1200x900", file: "1mp.jpg"),
    ]

    private static func fiveJPEGs(_ size: String, file: String) -> Benchmark {
        Benchmark(
            "four-cut: five \(size) JPEGs", unit: .milliseconds,
            conditions: """
                Five URLs in no cache, each answered 100 ms after its request, reduced to 400 px: \
                KingfisherManager.retrieveImages for the set, against retrieveImage for one after \
                another, and against the slowest of these alone. The goal is a set that takes at \
                most 1.15 times as long as its slowest image; five that arrive at once share the \
                cores for decoding.
                """,
            targets: [slowestName: 1 / 1.15]
        ) { workbench in
            let urls = FreshURLs(origin: try await workbench.origin(), file: "delayed/\(file)")
            let cache = try ImageCache(name: "four-cut", cacheDirectoryURL: workbench.makeFolder())
            let manager = KingfisherManager(
                downloader: ImageDownloader(name: "four-cut"), cache: cache)
            let options: KingfisherOptionsInfo = [
                .processor(
                    DownsamplingImageProcessor(size: CGSize(width: 400, height: 400)))
            ]
            let times = FourCutTimes()
            @Sendable func load(_ url: URL) async throws {
                consume(try await manager.retrieveImage(with: url, options: options))
            }
            return Contest(
                ours: Contestant("retrieveImages(with:)") {
                    let sources = urls.next(photoCount).map { Source.network($0) }
                    return times.set.add(
                        try await Stopwatch.time {
                            let results = try await manager.retrieveImages(
                                with: sources, options: options)
                            guard results.allSatisfy({ $0.cacheType == .none }) else {
                                throw BenchmarkError("An image was in the cache")
                            }
                        })
                },
                peers: [
                    Contestant("one after another") {
                        let urls = urls.next(photoCount)
                        return times.sequence.add(
                            try await Stopwatch.time { for url in urls { try await load(url) } })
                    },
                    Contestant(slowestName) {
                        var samples: [Sample] = []
                        for url in urls.next(photoCount) {
                            samples.append(try await Stopwatch.time { try await load(url) })
                        }
                        guard
                            let slowest = samples.max(by: {
                                $0.value(by: .wall) < $1.value(by: .wall)
                            })
                        else { throw BenchmarkError("Nothing was loaded") }
                        return times.slowest.add(slowest)
                    },
                ],
                finish: { times.report(size) })
        }
    }

    private static let photoCount = 5
    private static let slowestName = "slowest one alone"
}

/// What the rounds took, to say how much time a set saves.
private struct FourCutTimes: Sendable {
    let set = Samples()
    let sequence = Samples()
    let slowest = Samples()

    /// Says nothing of contestants that had no turn.
    func report(_ size: String) {
        guard let set = set.median, let sequence = sequence.median, let slowest = slowest.median
        else { return }
        let saved = Row.number((sequence - set) * Unit.milliseconds.perBase)
        Progress.say(
            "four-cut: a set of \(size) saves \(saved) ms; it takes \(Row.number(set / slowest)) "
                + "times its slowest image (goal: at most 1.15)")
    }

    final class Samples: Sendable {
        /// Elapsed seconds.
        private let walls = Mutex<[Double]>([])

        var median: Double? { Spread(walls.withLock { $0 })?.median }

        func add(_ sample: Sample) -> Sample {
            walls.withLock { $0.append(sample.value(by: .wall)) }
            return sample
        }
    }
}
