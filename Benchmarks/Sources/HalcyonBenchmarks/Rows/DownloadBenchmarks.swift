import AsyncHTTPClient
import Foundation
import FoundationNetworking
import Glibc
import Halcyon
import NIOCore
import NIOSSL

extension Benchmark {
    /// Many small files from an origin server that is a process of its own.
    static let downloads: [Benchmark] = [
        Benchmark(
            "2,000 downloads of 20 KB", unit: .milliseconds,
            conditions: """
                All of 2,000 URLs, 6 at a time, over kept connections of the loopback interface. \
                ImageDownloader with a processor that decodes nothing; the others only collect the \
                bytes. curl is started anew in each round.
                """,
            targets: ["AsyncHTTPClient": 1, "curl --parallel": 0.8]
        ) { workbench in
            let origin = try await workbench.origin()
            let count = 2000
            let width = 6
            let urls = (0..<count).map { origin.url("20kb.jpg", $0) }

            let downloader = ImageDownloader(name: "downloads")
            var options = KingfisherParsedOptionsInfo(nil)
            options.processor = BlankProcessor()
            let session = URLSession.forDownloads(connections: width)
            let client = HTTPClient.forDownloads(connections: width)

            return Contest(
                ours: Contestant("ImageDownloader") { [options] in
                    try await Stopwatch.time {
                        try await concurrently(count, width: width) { index in
                            let result = try await downloader.downloadImage(
                                with: urls[index], options: options)
                            try expect20KB(result.originalData.count)
                        }
                    }
                },
                peers: [
                    Contestant("URLSession") {
                        try await Stopwatch.time {
                            try await concurrently(count, width: width) { index in
                                try expect20KB(try await session.data(from: urls[index]).0.count)
                            }
                        }
                    },
                    Contestant("AsyncHTTPClient") {
                        try await Stopwatch.time {
                            try await concurrently(count, width: width) { index in
                                let body = try await client.bytes(of: urls[index])
                                try expect20KB(body.readableBytes)
                            }
                        }
                    },
                    curl(FreshURLs(origin: origin, file: "20kb.jpg"), count, connections: width),
                ],
                finish: {
                    session.invalidateAndCancel()
                    try await client.shutdown()
                })
        },
        secureDownloads(over: .http1),
        secureDownloads(over: .http2),
        Benchmark(
            "2,000 files of 20 KB to the disk cache", unit: .milliseconds,
            conditions: """
                As many URLs with ImagePrefetcher, 6 at a time, that are not in the disk cache: each answer is \
                checked to be an image, written, and entered into the index. URLSession keeps nothing; \
                curl writes files.
                """,
            enoughRounds: 7, targets: ["URLSession": 2.5]
        ) { workbench in
            let origin = try await workbench.origin()
            let count = 2000
            let width = 6
            let urls = (0..<count).map { origin.url("20kb.jpg", $0) }
            let fresh = FreshURLs(origin: origin, file: "20kb.jpg")
            let prefetching = try Prefetching(workbench, connections: width)
            let session = URLSession.forDownloads(connections: width)
            return Contest(
                ours: Contestant("ImagePrefetcher") {
                    try await prefetching.run(fresh.next(count))
                },
                peers: [
                    Contestant("URLSession") {
                        try await Stopwatch.time {
                            try await concurrently(count, width: width) { index in
                                try expect20KB(try await session.data(from: urls[index]).0.count)
                            }
                        }
                    },
                    curl(fresh, count, connections: width, into: workbench),
                ],
                finish: { session.invalidateAndCancel() })
        },
        Benchmark(
            "prefetch of 500 photos", unit: .milliseconds,
            conditions: """
                500 URLs of one JPEG of 840x630 (100 KB) that are not in the disk cache, with \
                ImagePrefetcher, 6 at a time, against curl into files.
                """,
            enoughRounds: 7, targets: ["curl --parallel": 1]
        ) { workbench in
            let origin = try await workbench.origin()
            let count = 500
            let fresh = FreshURLs(origin: origin, file: "100kb.jpg")
            let prefetching = try Prefetching(workbench, connections: 6)
            return Contest(
                ours: Contestant("ImagePrefetcher") {
                    try await prefetching.run(fresh.next(count))
                },
                peers: [curl(fresh, count, connections: 6, into: workbench)])
        },
    ]

    /// The same over TLS, from nginx.
    private static func secureDownloads(over version: SecureOrigin.Version) -> Benchmark {
        Benchmark(
            "2,000 downloads of 20 KB over \(version.rawValue)", unit: .milliseconds,
            conditions: """
                As without TLS, from nginx with one worker; certificates are verified. With HTTP/2 all \
                requests share one connection.
                """,
            targets: ["AsyncHTTPClient": 1]
        ) { workbench in
            let origin = try await workbench.secureOrigin()
            let count = 2000
            let width = 6
            let urls = (0..<count).map { origin.url("20kb.jpg", $0, over: version) }

            let downloader = ImageDownloader(name: version.rawValue)
            downloader.additionalTrustRoots = [
                try String(contentsOf: origin.certificate, encoding: .utf8)
            ]
            var options = KingfisherParsedOptionsInfo(nil)
            options.processor = BlankProcessor()
            let client = HTTPClient.forDownloads(
                connections: width, trusting: origin.certificate.path)

            return Contest(
                ours: Contestant("ImageDownloader") { [options] in
                    try await Stopwatch.time {
                        try await concurrently(count, width: width) { index in
                            let result = try await downloader.downloadImage(
                                with: urls[index], options: options)
                            try expect20KB(result.originalData.count)
                        }
                    }
                },
                peers: [
                    Contestant("AsyncHTTPClient") {
                        try await Stopwatch.time {
                            try await concurrently(count, width: width) { index in
                                let body = try await client.bytes(of: urls[index])
                                try expect20KB(body.readableBytes)
                            }
                        }
                    },
                    curl(
                        origin.pattern("20kb.jpg", count, over: version), connections: width,
                        more: ["--cacert", origin.certificate.path]),
                ],
                finish: { try await client.shutdown() })
        }
    }

    private static func expect20KB(_ count: Int) throws {
        guard count == 20_000 else { throw BenchmarkError("\(count) bytes instead of 20,000") }
    }

    /// Downloads that are thrown away, or written into a new folder of `workbench`.
    private static func curl(
        _ urls: FreshURLs, _ count: Int, connections: Int, into workbench: Workbench? = nil
    ) -> Contestant {
        curl(urls.nextPattern(count), connections: connections, into: workbench)
    }

    private static func curl(
        _ pattern: @escaping @autoclosure @Sendable () -> String, connections: Int,
        more: [String] = [], into workbench: Workbench? = nil
    ) -> Contestant {
        Contestant("curl --parallel") {
            let pattern = pattern()
            let folder = try workbench?.makeFolder()
            let before = ChildTime.now()
            let sample = try await Stopwatch.time {
                _ = try await ChildProcess.output(
                    of: URL(filePath: "/usr/bin/env"),
                    [
                        "curl", "--no-progress-meter", "--fail", "--parallel",
                        "--parallel-max", "\(connections)", "--output",
                        folder.map { "\($0.path)/#1" } ?? "/dev/null", pattern,
                    ] + more)
            }
            guard case .time(let wall, _) = sample else { return sample }
            return .time(wall: wall, cpu: ChildTime.now() - before)
        }
    }
}

/// Prefetches into a cache.
private struct Prefetching: Sendable {
    let cache: ImageCache
    let downloader: ImageDownloader
    let connections: Int

    init(_ workbench: Workbench, connections: Int) throws {
        cache = try ImageCache(name: "prefetch", cacheDirectoryURL: workbench.makeFolder())
        downloader = ImageDownloader(name: "prefetch")
        self.connections = connections
    }

    func run(_ urls: [URL]) async throws -> Sample {
        try await Stopwatch.time {
            let completed = await withCheckedContinuation { continuation in
                let prefetcher = ImagePrefetcher(
                    urls: urls, options: [.targetCache(cache), .downloader(downloader)],
                    completionHandler: { _, _, completed in
                        continuation.resume(returning: completed.count)
                    })
                prefetcher.maxConcurrentDownloads = connections
                prefetcher.start()
            }
            guard completed == urls.count else {
                throw BenchmarkError("\(completed) of \(urls.count) were prefetched")
            }
        }
    }
}

/// CPU seconds of the child processes that have ended.
private enum ChildTime {
    static func now() -> Double {
        var usage = rusage()
        getrusage(RUSAGE_CHILDREN.rawValue, &usage)
        return [usage.ru_utime, usage.ru_stime]
            .reduce(0) { $0 + Double($1.tv_sec) + Double($1.tv_usec) * 1e-6 }
    }
}

extension URLSession {
    fileprivate static func forDownloads(connections: Int) -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.httpMaximumConnectionsPerHost = connections
        return URLSession(configuration: configuration)
    }
}

extension HTTPClient {
    /// - Parameter root: The file of a certificate that is trusted; `nil` for the system's roots.
    static func forDownloads(connections: Int, trusting root: String? = nil) -> HTTPClient {
        var configuration = HTTPClient.Configuration.singletonConfiguration
        if let root {
            var security = TLSConfiguration.makeClientConfiguration()
            security.trustRoots = .file(root)
            configuration.tlsConfiguration = security
        }
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connections
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    func bytes(of url: URL) async throws -> ByteBuffer {
        let request = HTTPClientRequest(url: url.absoluteString)
        return try await execute(request, timeout: .seconds(60)).body.collect(upTo: 1 << 24)
    }
}
