extension ImageServer {
    struct CacheNumbers: Encodable, Sendable {
        struct Tier: Encodable, Sendable {
            let entries: Int
            let bytes: Int
            let limit: Int
        }

        /// By `memory` and `disk`.
        let sources: [String: Tier]
        let results: [String: Tier]
        /// The hit rates by minutes; left out where there were no requests.
        let hitRates: [String: Double]
    }

    func cacheNumbers() async -> CacheNumbers {
        var rates: [String: Double] = [:]
        for minutes in [1, 5, 15] {
            if let share = hitRates.share(minutes: minutes) {
                rates[String(minutes)] = (share * 10_000).rounded() / 10_000
            }
        }
        var tiers: [String: [String: CacheNumbers.Tier]] = [:]
        for (cache, tier, usage, limit) in await cacheUsage() {
            tiers[cache, default: [:]][tier] = CacheNumbers.Tier(
                entries: usage.entries, bytes: usage.bytes, limit: limit)
        }
        return CacheNumbers(
            sources: tiers["source"] ?? [:], results: tiers["result"] ?? [:], hitRates: rates)
    }

    /// The usage of each tier of the caches, with its limit in bytes.
    func cacheUsage() async -> [(cache: String, tier: String, usage: TierUsage, limit: Int)] {
        let cache = configuration.cache
        let known = sources.remote?.known
        return [
            ("source", "memory", known?.memoryUsage ?? TierUsage(), cache.sources.memoryBytes),
            ("source", "disk", await known?.diskUsage() ?? TierUsage(), cache.sources.bytes),
            ("result", "memory", makers.results.memoryUsage, cache.results.memoryBytes),
            ("result", "disk", await makers.results.diskUsage(), cache.results.bytes),
        ]
    }
}
