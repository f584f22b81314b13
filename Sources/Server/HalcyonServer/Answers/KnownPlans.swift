import HalcyonServerURLs
import HalcyonStorage

/// The plan of a recently requested URL: parsing and verifying a URL costs a twelfth of a response
/// from memory.
struct KnownPlan: CacheCostCalculable {
    let plan: ImagePlan
    /// The label of the key that signed the target, for metrics; `nil` where none is required.
    let signedBy: String?
    /// Whether hints about the client could act.
    let followsHints: Bool
    var cacheCost: Int { 1 }

    /// Returns a cache of up to 4,096 targets of usual length, each for an hour after its last use.
    static func memory() -> MemoryStorage.Backend<KnownPlan> {
        var config = MemoryStorage.Config(totalCostLimit: 0)
        config.countLimit = 4096
        config.expiration = .seconds(3600)
        return MemoryStorage.Backend(config: config)
    }
}
