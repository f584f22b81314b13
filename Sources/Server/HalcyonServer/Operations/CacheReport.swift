struct CacheReport: Sendable {
    struct Numbers: Encodable, Sendable {
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

    let sources: KnownSources?
    let results: ResultCache
    let hitRates: HitRates
    let limits: ImageServerConfiguration.Cache

    func numbers() async -> Numbers {
        var rates: [String: Double] = [:]
        for minutes in [1, 5, 15] {
            if let share = hitRates.share(minutes: minutes) {
                rates[String(minutes)] = (share * 10_000).rounded() / 10_000
            }
        }
        var tiers: [String: [String: Numbers.Tier]] = [:]
        for (cache, tier, usage, limit) in await usage() {
            tiers[cache, default: [:]][tier] = Numbers.Tier(
                entries: usage.entries, bytes: usage.bytes, limit: limit)
        }
        return Numbers(
            sources: tiers["source"] ?? [:], results: tiers["result"] ?? [:], hitRates: rates)
    }

    func usage() async -> [(cache: String, tier: String, usage: TierUsage, limit: Int)] {
        [
            ("source", "memory", sources?.memoryUsage ?? TierUsage(), limits.sources.memoryBytes),
            ("source", "disk", await sources?.diskUsage() ?? TierUsage(), limits.sources.bytes),
            ("result", "memory", results.memoryUsage, limits.results.memoryBytes),
            ("result", "disk", await results.diskUsage(), limits.results.bytes),
        ]
    }
}
