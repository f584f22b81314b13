extension ImageServer {
    /// What is kept, in numbers.
    struct CacheNumbers: Encodable, Sendable {
        struct Tier: Encodable, Sendable {
            var entries: Int?
            let bytes: Int
            let limit: Int
        }

        struct Cache: Encodable, Sendable {
            let memory: Tier
            let disk: Tier
        }

        let sources: Cache
        let results: Cache
        /// The share of pictures that came from a cache, by minutes; left out when there were none.
        let hitRates: [String: Double]
    }

    func cacheNumbers() async -> CacheNumbers {
        let cache = configuration.cache
        let sourceDisk = await sources.remote?.known.diskUsage() ?? (entries: 0, bytes: 0)
        let resultDisk = await makers.results.diskUsage()
        var rates: [String: Double] = [:]
        for minutes in [1, 5, 15] {
            if let share = hitRates.share(minutes: minutes) {
                rates[String(minutes)] = (share * 10_000).rounded() / 10_000
            }
        }
        return CacheNumbers(
            sources: CacheNumbers.Cache(
                memory: CacheNumbers.Tier(
                    bytes: sources.remote?.known.memoryBytes ?? 0, limit: cache.sources.memoryBytes),
                disk: CacheNumbers.Tier(
                    entries: sourceDisk.entries, bytes: sourceDisk.bytes,
                    limit: cache.sources.bytes)),
            results: CacheNumbers.Cache(
                memory: CacheNumbers.Tier(
                    bytes: makers.results.memoryBytes, limit: cache.results.memoryBytes),
                disk: CacheNumbers.Tier(
                    entries: resultDisk.entries, bytes: resultDisk.bytes,
                    limit: cache.results.bytes)),
            hitRates: rates)
    }
}
