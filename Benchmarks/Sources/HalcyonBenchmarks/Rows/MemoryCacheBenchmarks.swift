import Foundation
import Halcyon
import Synchronization

extension Benchmark {
    /// Small images under keys of the usual length, within the limits or over them.
    static let memoryCache: [Benchmark] = [
        hit(threads: 1),
        hit(threads: 2),
        Benchmark(
            "memory storage: hit", unit: .nanoseconds,
            conditions: """
                As with one thread, but MemoryStorage.Backend.value(forKey:), the generic storage \
                beneath, called from another module.
                """,
            targets: [stringKeys: 10]
        ) { _ in
            let stock = MemoryStock(count: 2000)
            let storage = MemoryStorage.Backend<Image>(config: .init(totalCostLimit: .max))
            stock.fill { storage.store(value: $1, forKey: $0) }
            return hits(in: stock, threads: 1, name: "MemoryStorage") {
                storage.value(forKey: $0)
            }
        },
        store(
            "memory cache: store", part: 1,
            conditions: "4,000 images of different costs into an empty cache that holds them all."),
        store(
            "memory cache: store when full", part: 4,
            conditions: """
                4,000 images of different costs into one that holds a quarter of them, so that most stores evict; a \
                dictionary cannot.
                """),
    ]

    /// The peer that is called as a Swift program calls it.
    private static let stringKeys = "NSCache, keys of String"

    private static func hit(threads: Int) -> Benchmark {
        Benchmark(
            "memory cache: hit, \(threads) \(threads == 1 ? "thread" : "threads")",
            unit: .nanoseconds,
            conditions: """
                100,000 look-ups per thread of 2,000 keys with ImageCache.retrieveImageInMemoryCache; \
                time per look-up of one thread. NSCache's keys are made of the same strings for each \
                look-up, or beforehand; a dictionary behind a lock is the floor.
                """,
            targets: [stringKeys: 10]
        ) { workbench in
            let stock = MemoryStock(count: 2000)
            let cache = try ImageCache(name: "hit", cacheDirectoryURL: workbench.makeFolder())
            stock.fill { cache.memoryStorage.store(value: $1, forKey: $0) }
            let options = KingfisherParsedOptionsInfo(nil)
            return hits(in: stock, threads: threads, name: "ImageCache") { key in
                cache.retrieveImageInMemoryCache(forKey: key, options: options)
            }
        }
    }

    private static func hits(
        in stock: MemoryStock, threads: Int, name: String,
        ours: @escaping @Sendable (String) -> Image?
    ) -> Contest {
        let nsCache = FoundationCache()
        stock.fill { nsCache.store($1, forKey: FoundationKey($0)) }
        let dictionary = Mutex<[String: Image]>([:])
        stock.fill { key, image in dictionary.withLock { $0[key] = image } }
        let nsKeys = stock.keys.map { FoundationKey($0) }

        @Sendable func contestant(
            _ name: String, _ lookUp: @escaping @Sendable (Int) -> Image?
        ) -> Contestant {
            Contestant(name) {
                await Stopwatch.time(operations: stock.lookups.count) {
                    DispatchQueue.concurrentPerform(iterations: threads) { _ in
                        for index in stock.lookups { consume(lookUp(index)) }
                    }
                }
            }
        }

        return Contest(
            ours: contestant(name) { ours(stock.keys[$0]) },
            peers: [
                contestant(stringKeys) {
                    nsCache.image(forKey: FoundationKey(stock.keys[$0]))
                },
                contestant("NSCache, keys made before") { nsCache.image(forKey: nsKeys[$0]) },
                contestant("Dictionary + Mutex") { index in
                    dictionary.withLock { $0[stock.keys[index]] }
                },
            ])
    }

    /// Stores into a cache that is large enough for one `part`th of all images.
    private static func store(_ name: String, part: Int, conditions: String) -> Benchmark {
        Benchmark(
            name, unit: .nanoseconds,
            conditions: "ImageCache.store with toDisk: false: \(conditions)"
        ) { workbench in
            let stock = MemoryStock(count: 4000)
            let holdsAll = part == 1
            let limit = stock.totalCost / part
            let cache = try ImageCache(name: "store", cacheDirectoryURL: workbench.makeFolder())
            cache.memoryStorage.config.totalCostLimit = holdsAll ? .max : limit
            let options = KingfisherParsedOptionsInfo(nil)
            let nsKeys = stock.keys.map(FoundationKey.init)

            let dictionary = Contestant("Dictionary + Mutex") {
                let dictionary = Mutex<[String: Image]>([:])
                return await Stopwatch.time(operations: stock.keys.count) {
                    stock.fill { key, image in dictionary.withLock { $0[key] = image } }
                }
            }
            return Contest(
                ours: Contestant("ImageCache") {
                    cache.clearMemoryCache()
                    return await Stopwatch.time(operations: stock.keys.count) {
                        stock.fill {
                            cache.store($1, forKey: $0, options: options, toDisk: false)
                        }
                    }
                },
                peers: [
                    Contestant("NSCache") {
                        let cache = FoundationCache(totalCostLimit: holdsAll ? 0 : limit)
                        return await Stopwatch.time(operations: nsKeys.count) {
                            for (key, image) in zip(nsKeys, stock.images) {
                                cache.store(image, forKey: key)
                            }
                        }
                    }
                ] + (holdsAll ? [dictionary] : []))
        }
    }
}

/// Keys, images and an order to look them up in; the same in each run.
private struct MemoryStock: Sendable {
    let keys: [String]
    let images: [Image]
    let lookups: [Int]

    init(count: Int) {
        var random = LinearCongruential(state: 20)
        keys = (0..<count).map { "https://images.example.com/albums/2024/photo-\($0).jpg?w=640" }
        images = (0..<count).map { _ in .blank(width: 1 + random.next(below: 64), height: 16) }
        lookups = (0..<100_000).map { _ in random.next(below: count) }
    }

    var totalCost: Int { images.reduce(0) { $0 + $1.cacheCost } }

    func fill(_ store: (String, Image) -> Void) {
        for (key, image) in zip(keys, images) { store(key, image) }
    }
}

/// Foundation's cache, which is safe to share but does not say so.
private final class FoundationCache: @unchecked Sendable {
    // Unchecked because `NSCache` locks itself.
    private let cache = NSCache<NSString, Image>()

    init(totalCostLimit: Int = 0) {
        cache.totalCostLimit = totalCostLimit
    }

    func store(_ image: Image, forKey key: FoundationKey) {
        cache.setObject(image, forKey: key.string, cost: image.cacheCost)
    }

    func image(forKey key: FoundationKey) -> Image? { cache.object(forKey: key.string) }
}

/// A key of Foundation's cache.
private struct FoundationKey: @unchecked Sendable {
    // Unchecked because `NSString` may have mutable subclasses; this is none.
    let string: NSString

    init(_ key: String) {
        string = NSString(string: key)
    }
}
