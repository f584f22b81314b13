import HalcyonCluster

/// Some nodes that want one value, the store of leases between them, and what may go wrong: everything that
/// can happen next, from which a test takes all ways.
struct LeaseWorld: ExplorableWorld {
    /// What is done wrong on purpose, to see that it would be noticed.
    enum Flaw: Hashable {
        case publishesWithoutLease
        case forgetsTheGeneration
    }

    struct Node: Hashable {
        var turn = LeaseTurn()
        var action: LeaseTurn.Action?
        /// Whether its lease has ended, by time or by loss, since it was taken.
        var hasPassed = false
        /// Whether it has been told so.
        var knowsLoss = false
        var isGone = false
        /// The lease and the record when it began to wait.
        var seen = Seen()
    }

    struct Seen: Hashable {
        var holder: Int?
        var generation: Int64 = 0
    }

    private(set) var nodes: [Node]
    private(set) var current = Seen()
    /// The time of the store, which moves on with each lease.
    private var clock: Int64 = 0
    private var faultsLeft: Int
    private let faults: Int
    private let flaw: Flaw?
    /// Whether nodes can do anything with what others publish.
    private let isUsable: Bool

    private(set) var violation: String?
    private(set) var makes = 0
    private(set) var newest: Int64 = 0

    init(nodes count: Int, faults: Int, isUsable: Bool = true, flaw: Flaw? = nil) {
        nodes = Array(repeating: Node(), count: count)
        for index in nodes.indices { nodes[index].action = nodes[index].turn.first }
        self.faults = faults
        faultsLeft = faults
        self.isUsable = isUsable
        self.flaw = flaw
    }

    var isFaultless: Bool { faultsLeft == faults }

    var isOver: Bool { nodes.allSatisfy { $0.isGone || $0.turn.isDone } }

    /// All that may happen next.
    var successors: [LeaseWorld] {
        var next: [LeaseWorld] = []
        for index in nodes.indices where !nodes[index].isGone && !nodes[index].turn.isDone {
            next += steps(of: index)
        }
        if let holder = current.holder {
            let isActive = !nodes[holder].isGone && nodes[holder].holdsLease
            // Of a holder that works on, only by a fault: it was too slow to renew it.
            if let world = isActive ? fault() : self {
                next.append(world.changed { $0.endLease() })
            }
        }
        if var world = fault() {
            world.endLease()
            world.current.generation = 0
            next.append(world)
        }
        return next
    }

    private func steps(of index: Int) -> [LeaseWorld] {
        var next: [LeaseWorld] = []
        func add(_ world: LeaseWorld?, _ change: (inout LeaseWorld) -> LeaseTurn.Event?) {
            guard var world else { return }
            guard let event = change(&world) else { return next.append(world) }
            world.tell(index, event)
            next.append(world)
        }
        // It ends without a word.
        add(fault()) {
            $0.nodes[index].isGone = true
            return nil
        }
        switch nodes[index].action {
        case .look:
            add(self) { $0.look() }
            add(fault()) { _ in .unavailable }
        case .acquire(let generation):
            add(self) { $0.acquire(index, after: generation) }
            // It was done, and the answer is lost; or it was not done.
            add(fault()) {
                _ = $0.acquire(index, after: generation)
                return .unavailable
            }
            add(fault()) { _ in .unavailable }
        case .wait:
            if nodes[index].seen != current { add(self) { _ in .woken } }
            add(fault()) { _ in .woken }
            add(fault()) { _ in .stopped }
        case .make(let generation):
            add(self) { $0.made(isPublishable: true) }
            add(fault()) { $0.made(isPublishable: false) }
            if generation != nil, current.holder != index, nodes[index].hasPassed {
                // Noticed at the next renewal, or not before the end.
                add(nodes[index].knowsLoss ? nil : self) { _ in .lost }
            }
        case .publish(let generation):
            add(self) { $0.publish(index, generation) }
            add(fault()) {
                _ = $0.publish(index, generation)
                return .unavailable
            }
            add(fault()) { _ in .unavailable }
        case .release, .use, .finish, .leave, nil: break
        }
        return next
    }

    // MARK: The store

    private func look() -> LeaseTurn.Event {
        current.generation > 0
            ? .found(generation: current.generation, isUsable: isUsable) : .nothingFound
    }

    private mutating func acquire(_ index: Int, after generation: Int64) -> LeaseTurn.Event {
        if current.generation > generation {
            return .found(generation: current.generation, isUsable: isUsable)
        }
        if let holder = current.holder, holder != index { return .held }
        current.holder = index
        nodes[index].hasPassed = false
        clock += 1
        guard flaw != .forgetsTheGeneration else { return .acquired(generation: 1) }
        return .acquired(generation: max(clock, max(current.generation, generation) + 1))
    }

    private mutating func publish(_ index: Int, _ generation: Int64) -> LeaseTurn.Event {
        guard current.holder == index || flaw == .publishesWithoutLease else { return .published }
        if current.holder == index { current.holder = nil }
        guard generation > current.generation else { return .published }
        if nodes[index].hasPassed { violation = "the result of a lease that had passed" }
        if generation <= newest { violation = "generation \(generation) after \(newest)" }
        newest = max(newest, generation)
        current.generation = generation
        return .published
    }

    private mutating func endLease() {
        if let holder = current.holder { nodes[holder].hasPassed = true }
        current.holder = nil
    }

    // MARK: The nodes

    private mutating func made(isPublishable: Bool) -> LeaseTurn.Event {
        makes += 1
        return .made(isPublishable: isPublishable)
    }

    private mutating func tell(_ index: Int, _ event: LeaseTurn.Event) {
        if event == .lost { nodes[index].knowsLoss = true }
        guard let action = nodes[index].turn.next(event) else { return }
        nodes[index].action = action
        if case .wait = action { nodes[index].seen = current }
        if action == .release, current.holder == index { current.holder = nil }
    }

    private func fault() -> LeaseWorld? {
        guard faultsLeft > 0 else { return nil }
        return changed { $0.faultsLeft -= 1 }
    }

    private func changed(_ change: (inout LeaseWorld) -> Void) -> LeaseWorld {
        var world = self
        change(&world)
        return world
    }
}

extension LeaseWorld.Node {
    fileprivate var holdsLease: Bool {
        switch action {
        case .make(let generation): generation != nil
        case .publish: true
        default: false
        }
    }
}
