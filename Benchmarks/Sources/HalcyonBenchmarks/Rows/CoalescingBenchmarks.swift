import AsyncHTTPClient
import Foundation
import Halcyon
import NIOCore
import Synchronization

extension Benchmark {
    /// A thousand requests at once for one URL that is in no cache.
    static let coalescing: [Benchmark] = [
        same("time", unit: .milliseconds, conditions: "until the last has its image.") {
            $0.time
        },
        same(
            "requests at the origin", unit: .count(of: "requests"),
            conditions: "counted by the origin server."
        ) { .amount(Double($0.requests)) },
        same(
            "decodes", unit: .count(of: "decodes"),
            conditions: "the greater of processor runs and of different images delivered."
        ) { .amount(Double($0.decodes)) },
        besideOne("", file: "delayed/1mp.jpg", "answered 100 ms after the request", 1 / 1.5),
        besideOne(", no latency", file: "1mp.jpg", "answered at once", nil),
    ]

    private static func besideOne(
        _ suffix: String, file: String, _ answer: String, _ target: Double?
    ) -> Benchmark {
        Benchmark(
            "1,000 requests for one URL beside one\(suffix)", unit: .milliseconds,
            conditions: """
                1,000 concurrent calls of KingfisherManager.retrieveImage with a 1200x900 JPEG reduced to \
                400 px, \(answer), until the last has its image, against one call.
                """,
            targets: target.map { ["one request": $0] } ?? [:]
        ) { workbench in
            let urls = FreshURLs(origin: try await workbench.origin(), file: file)
            let cache = try ImageCache(name: "beside", cacheDirectoryURL: workbench.makeFolder())
            let manager = KingfisherManager(
                downloader: ImageDownloader(name: "beside"), cache: cache)
            let options: KingfisherOptionsInfo = [
                .processor(
                    DownsamplingImageProcessor(size: CGSize(width: 400, height: 400)))
            ]
            @Sendable func requests(_ count: Int) async throws -> Sample {
                let url = urls.next()
                return try await Stopwatch.time {
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        for _ in 0..<count {
                            group.addTask {
                                consume(
                                    try await manager.retrieveImage(with: url, options: options))
                            }
                        }
                        try await group.waitForAll()
                    }
                }
            }
            return Contest(
                ours: Contestant("KingfisherManager") { try await requests(1000) },
                peers: [Contestant("one request") { try await requests(1) }])
        }
    }

    private static func same(
        _ what: String, unit: Unit, conditions: String,
        value: @escaping @Sendable (CoalescingOutcome) -> Sample
    ) -> Benchmark {
        Benchmark(
            "1,000 requests for one URL: \(what)", unit: unit,
            conditions: """
                KingfisherManager.retrieveImage with a 400x300 JPEG reduced to 100 px, against a \
                download and a decode for each request, 50 connections; \(conditions)
                """,
            enoughRounds: 5
        ) { workbench in
            let origin = try await workbench.origin()
            let urls = FreshURLs(origin: origin, file: "400.jpg")
            let cache = try ImageCache(name: "same", cacheDirectoryURL: workbench.makeFolder())
            let manager = KingfisherManager(
                downloader: ImageDownloader(name: "same"), cache: cache)
            let client = HTTPClient.forDownloads(connections: 50)
            return Contest(
                ours: Contestant("KingfisherManager") {
                    value(
                        try await outcome(origin, urls.next()) { url, processor in
                            try await manager.retrieveImage(
                                with: url, options: [.processor(processor)]
                            ).image
                        })
                },
                peers: [
                    Contestant("AsyncHTTPClient, each alone") {
                        value(
                            try await outcome(origin, urls.next()) { url, processor in
                                let body = try await client.bytes(of: url)
                                let image = processor.process(
                                    item: .data(Data(body.readableBytesView)),
                                    options: KingfisherParsedOptionsInfo(nil))
                                guard let image else { throw BenchmarkError("No image") }
                                return try await image.rendered()
                            })
                    }
                ],
                finish: { try await client.shutdown() })
        }
    }

    private static func outcome(
        _ origin: Origin, _ url: URL,
        load: @escaping @Sendable (URL, CountingProcessor) async throws -> Image
    ) async throws -> CoalescingOutcome {
        let count = 1000
        let processor = CountingProcessor()
        _ = try await origin.requests()
        // All are kept until they are counted, so that no two have the same address.
        var images: [Image] = []
        let time = try await Stopwatch.time {
            images = try await withThrowingTaskGroup(of: Image.self) { group in
                for _ in 0..<count {
                    group.addTask { try await load(url, processor) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
        }
        guard images.count == count else {
            throw BenchmarkError("\(images.count) images for \(count) requests")
        }
        let distinct = Set(images.map(ObjectIdentifier.init)).count
        return CoalescingOutcome(
            time: time, requests: try await origin.requests(),
            decodes: max(processor.runs, distinct))
    }
}

private struct CoalescingOutcome: Sendable {
    let time: Sample
    let requests: Int
    let decodes: Int
}

/// Reduces to 100 pixels and counts how often it is asked to decode bytes.
final class CountingProcessor: ImageProcessor {
    let identifier = "benchmarks.counting"
    private let downsampling = DownsamplingImageProcessor(size: CGSize(width: 100, height: 100))
    private let count = Atomic(0)

    var runs: Int { count.load(ordering: .relaxed) }

    func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> Image? {
        if case .data = item { count.add(1, ordering: .relaxed) }
        return downsampling.process(item: item, options: options)
    }
}
