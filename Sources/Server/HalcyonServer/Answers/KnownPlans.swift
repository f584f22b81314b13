import HalcyonServerURLs
import HalcyonStorage

/// The plans of recently requested URLs: parsing and verifying a URL costs a twelfth of a response
/// from memory. Belongs to the rules that the URLs were parsed by, and ends with them.
struct KnownPlans: Sendable {
    private let memory: MemoryStorage.Backend<KnownPlan>

    /// Holds up to 4,096 targets of usual length, each for an hour after its last use.
    init() {
        var config = MemoryStorage.Config(totalCostLimit: 0)
        config.countLimit = 4096
        config.expiration = .seconds(3600)
        memory = MemoryStorage.Backend(config: config)
    }

    subscript(target: String) -> KnownPlan? { memory.value(forKey: target) }

    func remember(_ plan: KnownPlan, for target: String) {
        if target.utf8.count <= 1024 { memory.store(value: plan, forKey: target) }
    }
}

struct KnownPlan: CacheCostCalculable {
    let plan: ImagePlan
    /// The label of the key that signed the target, for metrics; `nil` where none is required.
    let signedBy: String?
    /// Whether hints about the client could act.
    let followsHints: Bool
    var cacheCost: Int { 1 }
}
