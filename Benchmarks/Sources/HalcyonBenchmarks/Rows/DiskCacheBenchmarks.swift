import Foundation
import Halcyon
import Synchronization

extension Benchmark {
    /// Files of two sizes, written and read one after another on the calling thread.
    static let diskCache: [Benchmark] = [
        hit(bytes: 20_000, files: 500, title: "20 KB"),
        hit(bytes: 500_000, files: 50, title: "500 KB"),
        store(bytes: 20_000, files: 100, title: "20 KB"),
        store(bytes: 500_000, files: 20, title: "500 KB"),
        overwriting,
        storesAtOnce,
    ]

    private static func hit(bytes: Int, files: Int, title: String) -> Benchmark {
        Benchmark(
            "disk cache: hit, \(title)", unit: .microseconds,
            conditions: """
                \(files) files of \(title) with DiskStorage.Backend.value(forKey:): look-up in the \
                index, read, check, note the access. The page cache is warm. Data(contentsOf:) also \
                asks for the file's date, as a cache does that keeps expirations there; read(2) into \
                new memory is the floor.
                """,
            targets: bytes < 100_000 ? [readWithDate: 0.7] : [:]
        ) { workbench in
            let body = DiskStock.bytes(bytes)
            let folder = try workbench.makeFolder()
            let cache = try ImageCache(name: "hit", cacheDirectoryURL: workbench.makeFolder())
            let keys = DiskStock.keys(files, series: 0)
            let paths = keys.indices.map { folder.appending(path: "\($0)") }
            for (key, path) in zip(keys, paths) {
                try cache.diskStorage.store(value: body, forKey: key)
                try body.write(to: path)
            }
            return Contest(
                ours: Contestant("DiskStorage") {
                    try await Stopwatch.time(operations: files) {
                        for key in keys {
                            guard let data = try cache.diskStorage.value(forKey: key),
                                data.count == bytes
                            else { throw BenchmarkError("The disk cache has lost a file") }
                            consume(data)
                        }
                    }
                },
                peers: [
                    Contestant(readWithDate) {
                        try await Stopwatch.time(operations: files) {
                            for path in paths {
                                // A new URL: one remembers what it was asked before.
                                let file = URL(filePath: path.path)
                                consume(
                                    try file.resourceValues(forKeys: [.contentModificationDateKey])
                                )
                                consume(try Data(contentsOf: file))
                            }
                        }
                    },
                    Contestant("read(2)") {
                        try await Stopwatch.time(operations: files) {
                            for path in paths { consume(try PlainFile.read(path.path)) }
                        }
                    },
                ])
        }
    }

    private static let readWithDate = "Data(contentsOf:) + date"

    /// What is stored in place of a former file beside what is stored for the first time.
    private static let overwriting = Benchmark(
        "disk cache: overwrite, 20 KB", unit: .microseconds,
        conditions: """
            100 files of 20 KB under keys that have files already with DiskStorage.Backend.store, the same \
            100 in each round; beside it 100 files under new keys in the same folder.
            """,
        targets: ["new key": 1 / 1.5]
    ) { workbench in
        let count = 100
        let body = DiskStock.bytes(20_000)
        let cache = try ImageCache(name: "overwrite", cacheDirectoryURL: workbench.makeFolder())
        let series = Atomic(1)
        @Sendable func store(_ keys: [String]) async throws -> Sample {
            try await Stopwatch.time(operations: count) {
                for key in keys { try cache.diskStorage.store(value: body, forKey: key) }
            }
        }
        return Contest(
            ours: Contestant("overwrite") { try await store(DiskStock.keys(count, series: 0)) },
            peers: [
                Contestant("new key") {
                    try await store(
                        DiskStock.keys(
                            count, series: series.add(1, ordering: .relaxed).newValue))
                }
            ])
    }

    /// Files as a list of images brings them: many at once, each awaited.
    private static let storesAtOnce = Benchmark(
        "disk cache: 200 stores at once, 20 KB", unit: .microseconds,
        conditions: """
            200 files of 20 KB under new keys with ImageCache.storeToDisk, all at once, until the last is \
            on disk and in the index; time per file. Data.write one after another, without an index.
            """,
        targets: ["Data.write": 5]
    ) { workbench in
        let body = DiskStock.bytes(20_000)
        let count = 200
        let cache = try ImageCache(name: "at once", cacheDirectoryURL: workbench.makeFolder())
        let series = Atomic(0)
        return Contest(
            ours: Contestant("ImageCache") {
                let keys = DiskStock.keys(
                    count, series: series.add(1, ordering: .relaxed).newValue)
                return try await Stopwatch.time(operations: count) {
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        for key in keys {
                            group.addTask { try await cache.storeToDisk(body, forKey: key) }
                        }
                        try await group.waitForAll()
                    }
                }
            },
            peers: [
                Contestant("Data.write") {
                    let folder = try workbench.makeFolder()
                    let paths = (0..<count).map { folder.appending(path: "\($0)") }
                    return try await Stopwatch.time(operations: count) {
                        for path in paths { try body.write(to: path) }
                    }
                }
            ])
    }

    private static func store(bytes: Int, files: Int, title: String) -> Benchmark {
        Benchmark(
            "disk cache: store, \(title)", unit: .microseconds,
            conditions: """
                \(files) files of \(title) under new keys with DiskStorage.Backend.store: temporary \
                file, rename, row in the index. Data.write waits for the disk (fsync), ours and \
                write(2) + rename(2), the floor, do not.
                """
        ) { workbench in
            let body = DiskStock.bytes(bytes)
            let cache = try ImageCache(name: "store", cacheDirectoryURL: workbench.makeFolder())
            let series = Mutex(0)
            @Sendable func newKeys() -> [String] {
                DiskStock.keys(
                    files,
                    series: series.withLock {
                        $0 += 1
                        return $0
                    })
            }

            @Sendable func plain(_ name: String, write: @escaping @Sendable (URL) throws -> Void)
                -> Contestant
            {
                Contestant(name) {
                    let folder = try workbench.makeFolder()
                    let paths = (0..<files).map { folder.appending(path: "\($0)") }
                    return try await Stopwatch.time(operations: files) {
                        for path in paths { try write(path) }
                    }
                }
            }

            return Contest(
                ours: Contestant("DiskStorage") {
                    let keys = newKeys()
                    return try await Stopwatch.time(operations: keys.count) {
                        for key in keys { try cache.diskStorage.store(value: body, forKey: key) }
                    }
                },
                peers: [
                    plain("Data.write") { try body.write(to: $0) },
                    plain("Data.write(.atomic)") { try body.write(to: $0, options: .atomic) },
                    plain("write(2) + rename(2)") { try PlainFile.write(body, to: $0.path) },
                ])
        }
    }
}

/// Keys and bytes for files.
private enum DiskStock {
    static func keys(_ count: Int, series: Int) -> [String] {
        (0..<count).map { "https://images.example.com/series-\(series)/photo-\($0).jpg" }
    }

    /// Bytes that no file system can compress.
    static func bytes(_ count: Int) -> Data {
        var random = LinearCongruential(state: 7)
        return Data((0..<count).map { _ in UInt8(random.next(below: 256)) })
    }
}
