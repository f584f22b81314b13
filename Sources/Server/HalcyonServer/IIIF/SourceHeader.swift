import HalcyonServerURLs
import HalcyonStorage
import HalcyonWork

/// The cached header of a source, so that the file is not read for each tile of it.
struct SourceHeader: CacheCostCalculable {
    let size: Dimensions
    var cacheCost: Int { 1 }

    /// Returns a cache of up to 10,000 headers, each for an hour after its last use.
    static func memory(_ time: TimeSource) -> MemoryStorage.Backend<SourceHeader> {
        var config = MemoryStorage.Config(totalCostLimit: 0)
        config.countLimit = 10_000
        config.expiration = .seconds(3600)
        return MemoryStorage.Backend(config: config, now: time.expirationDate)
    }
}
