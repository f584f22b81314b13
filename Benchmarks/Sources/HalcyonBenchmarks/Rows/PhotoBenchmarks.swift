import Foundation
import Halcyon

extension Benchmark {
    /// The whole way of a list of photos: downloaded, reduced, stored.
    static let photos: [Benchmark] = [
        Benchmark(
            "500 photos to 200 px", unit: .milliseconds,
            conditions: """
                500 URLs of one JPEG of 840x630 (100 KB), 6 connections: KingfisherManager.retrieveImage \
                with DownsamplingImageProcessor and waitForCache, until the last is on disk as a JPEG; \
                against a program of two processes with aiohttp and pyvips that stores files.
                """,
            enoughRounds: 7, targets: [PhotoRun.peerName: 1.3]
        ) { workbench in
            let origin = try await workbench.origin()
            let urls = FreshURLs(origin: origin, file: "100kb.jpg")
            let run = try PhotoRun(folder: workbench.makeFolder())
            let peer = try await workbench.photoPeer()
            return Contest(
                ours: Contestant("KingfisherManager") {
                    let list = urls.next(PhotoRun.count)
                    let sample = try await Stopwatch.time { try await run.load(list) }
                    run.cache.clearMemoryCache()
                    return sample
                },
                peers: [
                    Contestant(PhotoRun.peerName) {
                        try await peer.time(
                            PhotoRequest(
                                command: "time", origin: origin, folder: workbench.makeFolder()))
                    }
                ],
                finish: { await peer.close() })
        },
        Benchmark(
            "500 photos to 200 px: peak memory", unit: .megabytes,
            conditions: """
                The greatest resident memory of a fresh process (of Python: of both, added up) that does \
                the same once. Halcyon's has the 500 reduced photos in its memory cache, too.
                """,
            enoughRounds: 3, targets: [PhotoRun.peerName: 1]
        ) { workbench in
            let origin = try await workbench.origin()
            let folder = try workbench.makeFolder()
            return Contest(
                ours: Contestant("KingfisherManager") {
                    let cache = try workbench.makeFolder()
                    let text = try await ChildProcess.output(
                        of: Workbench.executable,
                        ["photos", "\(origin.baseURL)/100kb.jpg", cache.path])
                    guard let bytes = Double(text.trimmingCharacters(in: .newlines)) else {
                        throw BenchmarkError("The process did not print its peak memory")
                    }
                    return .amount(bytes)
                },
                peers: [
                    Contestant(PhotoRun.peerName) {
                        let peer = try await workbench.photoPeer()
                        let bytes = try await peer.number(
                            PhotoRequest(command: "peak", origin: origin, folder: folder))
                        await peer.close()
                        return .amount(bytes)
                    }
                ])
        },
    ]
}

/// Loads a list of photos with caches of its own.
struct PhotoRun: Sendable {
    static let peerName = "aiohttp + pyvips"
    static let count = 500
    static let connections = 6
    static let side = 200

    let cache: ImageCache
    private let manager: KingfisherManager

    init(folder: URL) throws {
        cache = try ImageCache(name: "photos", cacheDirectoryURL: folder)
        manager = KingfisherManager(downloader: ImageDownloader(name: "photos"), cache: cache)
    }

    func load(_ urls: [URL]) async throws {
        let side = CGFloat(Self.side)
        let options: KingfisherOptionsInfo = [
            .processor(DownsamplingImageProcessor(size: CGSize(width: side, height: side))),
            .waitForCache,
        ]
        try await concurrently(urls.count, width: Self.connections) { [manager] index in
            consume(try await manager.retrieveImage(with: urls[index], options: options))
        }
    }
}

/// What `photos.py` is asked to do.
private struct PhotoRequest: Encodable, Sendable {
    let command: String
    let url: String
    let first = 0
    let count = PhotoRun.count
    let side = PhotoRun.side
    let connections = PhotoRun.connections
    let folder: String

    init(command: String, origin: Origin, folder: URL) {
        self.command = command
        url = "\(origin.baseURL)/100kb.jpg"
        self.folder = folder.path
    }
}
