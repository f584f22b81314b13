import HalcyonServerURLs
import HalcyonStorage

/// What URLs ask for that came lately: taking one apart and proving it costs a twelfth of an answer that is at
/// hand. It belongs to the rules by which they were read, and ends with them.
struct KnownPlans: Sendable {
    private let memory: MemoryStorage.Backend<KnownPlan>

    /// For up to 4,096 targets of the usual length, for an hour after their last use.
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
    /// Who has signed the target, for metrics; `nil` where nobody has to.
    let signedBy: String?
    /// Whether hints about the client could act.
    let followsHints: Bool
    var cacheCost: Int { 1 }
}
