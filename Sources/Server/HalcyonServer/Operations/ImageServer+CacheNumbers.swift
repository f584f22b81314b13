extension ImageServer {
    struct CacheNumbers: Encodable, Sendable {
        struct Tier: Encodable, Sendable {
            let entries: Int
            let bytes: Int
            let limit: Int

            init(_ usage: TierUsage?, limit: Int) {
                entries = usage?.entries ?? 0
                bytes = usage?.bytes ?? 0
                self.limit = limit
            }
        }

        struct Cache: Encodable, Sendable {
            let memory: Tier
            let disk: Tier
        }

        let sources: Cache
        let results: Cache
        /// The hit rates by minutes; left out where there were no requests.
        let hitRates: [String: Double]
    }

    func cacheNumbers() async -> CacheNumbers {
        let cache = configuration.cache
        let known = sources.remote?.known
        var rates: [String: Double] = [:]
        for minutes in [1, 5, 15] {
            if let share = hitRates.share(minutes: minutes) {
                rates[String(minutes)] = (share * 10_000).rounded() / 10_000
            }
        }
        return CacheNumbers(
            sources: CacheNumbers.Cache(
                memory: CacheNumbers.Tier(known?.memoryUsage, limit: cache.sources.memoryBytes),
                disk: CacheNumbers.Tier(await known?.diskUsage(), limit: cache.sources.bytes)),
            results: CacheNumbers.Cache(
                memory: CacheNumbers.Tier(
                    makers.results.memoryUsage, limit: cache.results.memoryBytes),
                disk: CacheNumbers.Tier(
                    await makers.results.diskUsage(), limit: cache.results.bytes)),
            hitRates: rates)
    }
}
