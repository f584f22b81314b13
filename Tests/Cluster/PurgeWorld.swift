import Foundation
import HalcyonCluster

/// Some nodes that want one picture, the record, the lease and the mark of it in Redis, its object in the store of
/// bytes, and purges: everything that can happen next, from which a test takes all ways.
///
/// The picture changes with each purge, and its source's server says that it has not: the object has one name. Its
/// version is the number of purges before it. At first the last node alone knows version 0 of the source.
struct PurgeWorld: ExplorableWorld {
    /// What is done wrong on purpose, to see that it would be noticed.
    enum Flaw: Hashable {
        case takesRecordsOfAnyGeneration
        case takesObjectsOfAnyGeneration
        case marksAfterItsAnswer
        case publishesWhatIsOfAnOldSource
        case storesWithoutALease
    }

    struct Record: Hashable {
        enum Content: Hashable { case bytes(version: Int), object, elsewhere }
        var generation: Int64 = 0
        var content = Content.elsewhere
    }

    struct Object: Hashable {
        let generation: Int64
        let version: Int
    }

    struct Made: Hashable {
        let version: Int
        /// Whether others may have it.
        var isShared = true
        var isStored = false
        /// Whether there may be an object that is of no use.
        var replaces = false
    }

    /// What a node does next.
    enum Step: Hashable {
        /// What its turn says.
        case act
        /// It has read a record which says that there is an object.
        case fetch(generation: Int64)
        case make(replacing: Bool)
        /// It asks whether its lease is held, before the store.
        case renew
        case store(isHeld: Bool)
        case publish
        /// Its turn is over.
        case storeAfterwards
    }

    struct Node: Hashable {
        var turn = LeaseTurn()
        var action: LeaseTurn.Action?
        var step = Step.act
        /// The latest mark that it has read.
        var mark: Int64 = 0
        /// How many purges had been answered when it was asked for the picture.
        var promised = 0
        var knowsOldSource = false
        var made: Made?
        var published: Int64?
        /// The lease and the record when it began to wait.
        var seen = Seen()

        var isDone: Bool { turn.isDone && step == .act }
    }

    struct Seen: Hashable {
        var holder: Int?
        var generation: Int64 = 0

        mutating func swap(_ one: Int, _ other: Int) {
            if holder == one { holder = other } else if holder == other { holder = one }
        }
    }

    enum Purge: Hashable { case idle, ordered, answeredUnmarked, marked }

    private var nodes: [Node]
    private var holder: Int?
    private var record = Record()
    private var object: Object?
    /// That of Redis, by which generations and marks are.
    private var clock: Int64 = 1
    private var mark: Int64 = 0
    private var purge = Purge.idle
    private var ordered = 0
    private var answered = 0
    private var mayRemove = false
    private var purgesLeft: Int
    private var faultsLeft: Int
    /// Whether the picture is too large for Redis.
    private let isLarge: Bool
    private let flaw: Flaw?
    private(set) var violation: String?

    init(nodes count: Int, purges: Int, faults: Int, isLarge: Bool, flaw: Flaw? = nil) {
        nodes = Array(repeating: Node(), count: count)
        for index in nodes.indices { nodes[index].action = nodes[index].turn.first }
        nodes[count - 1].knowsOldSource = true
        purgesLeft = purges
        faultsLeft = faults
        self.isLarge = isLarge
        self.flaw = flaw
    }

    var isOver: Bool { purge == .idle && purgesLeft == 0 && nodes.allSatisfy(\.isDone) }

    var successors: [PurgeWorld] {
        var next = nodes.indices.filter { !nodes[$0].isDone }.compactMap(step)
        next += purgeSteps
        for index in nodes.indices where nodes[index].knowsOldSource && mark > 0 {
            // It hears of the purge, sooner or later.
            next.append(changed { $0.nodes[index].knowsOldSource = false })
        }
        if let holder {
            // Of a holder that works on only by a fault: it was too slow.
            if nodes[holder].isDone {
                next.append(changed { $0.holder = nil })
            } else if faultsLeft > 0 {
                next.append(changed { ($0.faultsLeft, $0.holder) = ($0.faultsLeft - 1, nil) })
            }
        }
        return next
    }

    // MARK: Purges

    private var purgeSteps: [PurgeWorld] {
        var next: [PurgeWorld] = []
        func add(_ change: (inout PurgeWorld) -> Void) { next.append(changed(change)) }
        switch purge {
        case .idle where purgesLeft > 0:
            add {
                $0.purgesLeft -= 1
                $0.ordered += 1
                $0.mayRemove = true
                $0.purge = .ordered
            }
        case .idle: break
        case .ordered where flaw == .marksAfterItsAnswer:
            add { ($0.answered, $0.purge) = ($0.ordered, .answeredUnmarked) }
        case .ordered, .answeredUnmarked:
            add {
                $0.clock += 1
                ($0.mark, $0.purge) = ($0.clock, .marked)
            }
        case .marked: add { ($0.answered, $0.purge) = ($0.ordered, .idle) }
        }
        // Before anything is marked or, of many pictures, at any time.
        if mayRemove, object != nil { add { ($0.mayRemove, $0.object) = (false, nil) } }
        return next
    }

    // MARK: Nodes

    /// `nil` for one that waits and has no news.
    private func step(of index: Int) -> PurgeWorld? {
        let node = nodes[index]
        switch node.step {
        case .act: return act(index)
        case .fetch(let generation):
            return changed { world in
                let found = world.object.flatMap { world.isUsable($0, by: node) ? $0 : nil }
                if let found { world.send(found.version, index) }
                world.tell(index, .found(generation: generation, isUsable: found != nil))
            }
        case .make(let replacing):
            return changed { world in
                var made = Made(version: node.knowsOldSource ? 0 : world.ordered)
                made.replaces = replacing
                // What is known of the source was asked for before anything was marked.
                if node.knowsOldSource, node.mark > 0 {
                    made.isShared = flaw == .publishesWhatIsOfAnOldSource
                }
                world.nodes[index].made = made
                world.nodes[index].knowsOldSource = false
                world.tell(index, .made(isPublishable: true))
            }
        case .renew:
            return changed { world in
                let isHeld = world.holder == index
                world.nodes[index].step = .store(isHeld: isHeld)
                if !isHeld, flaw != .storesWithoutALease { world.tell(index, .published) }
            }
        case .store(let isHeld):
            return changed { world in
                if !isHeld { world.violation = "an object of a lease that had passed" }
                world.store(index)
                world.nodes[index].step = .publish
            }
        case .publish: return changed { $0.publish(index) }
        case .storeAfterwards:
            return changed { world in
                world.store(index)
                world.finish(index)
            }
        }
    }

    private func act(_ index: Int) -> PurgeWorld? {
        switch nodes[index].action {
        case .look:
            return changed { world in
                world.nodes[index].promised = world.answered
                world.nodes[index].mark = world.mark
                if world.record.generation == 0 { return world.tell(index, .nothingFound) }
                world.read(index)
            }
        case .acquire(let generation):
            return changed { $0.acquire(index, after: max(generation, $0.nodes[index].mark)) }
        case .wait:
            if nodes[index].seen == seen { return nil }
            return changed { $0.tell(index, .woken) }
        case .make:
            return changed { world in
                guard let object = world.object, world.isUsable(object, by: world.nodes[index])
                else {
                    world.nodes[index].step = .make(replacing: world.object != nil)
                    return
                }
                world.send(object.version, index)
                world.nodes[index].made = Made(version: object.version, isStored: true)
                world.tell(index, .made(isPublishable: true))
            }
        case .publish, .release, .use, .finish, .leave, nil: return nil
        }
    }

    private func isUsable(_ object: Object, by node: Node) -> Bool {
        flaw == .takesObjectsOfAnyGeneration
            || SharedObject(body: .init(), generation: object.generation).isNewer(than: node.mark)
    }

    private mutating func read(_ index: Int) {
        let generation = record.generation
        let isCurrent = generation > nodes[index].mark || flaw == .takesRecordsOfAnyGeneration
        switch record.content {
        case .bytes(let version) where isCurrent:
            send(version, index)
            tell(index, .found(generation: generation, isUsable: true))
        case .object where isCurrent: nodes[index].step = .fetch(generation: generation)
        default: tell(index, .found(generation: generation, isUsable: false))
        }
    }

    private mutating func acquire(_ index: Int, after generation: Int64) {
        // Marks are read in the same round trip, after the lease.
        nodes[index].mark = mark
        if record.generation > generation { return read(index) }
        if let holder, holder != index { return tell(index, .held) }
        holder = index
        clock += 1
        tell(index, .acquired(generation: max(clock, max(record.generation, generation) + 1)))
    }

    private mutating func store(_ index: Int) {
        guard let made = nodes[index].made, let generation = nodes[index].published else { return }
        if object != nil, !made.replaces { return }
        object = Object(generation: generation, version: made.version)
    }

    private mutating func publish(_ index: Int) {
        guard let made = nodes[index].made, let generation = nodes[index].published else { return }
        let isPublished = holder == index && generation > record.generation
        if holder == index { holder = nil }
        if isPublished {
            record.generation = generation
            record.content =
                !made.isShared ? .elsewhere : isLarge ? .object : .bytes(version: made.version)
        }
        tell(index, .published)
        if isPublished, !isLarge, made.isShared, !made.isStored {
            nodes[index].made = made
            nodes[index].published = generation
            nodes[index].step = .storeAfterwards
        }
    }

    /// What a node that is done knows makes no difference.
    private mutating func finish(_ index: Int) { nodes[index] = Node(turn: nodes[index].turn) }

    /// Takes note of what somebody is answered with that others have made.
    private mutating func send(_ version: Int, _ index: Int) {
        if version < nodes[index].promised { violation = "a purged version was sent" }
    }

    private mutating func tell(_ index: Int, _ event: LeaseTurn.Event) {
        nodes[index].step = .act
        guard let action = nodes[index].turn.next(event) else { return }
        nodes[index].action = action
        nodes[index].seen = Seen()
        switch action {
        case .publish(let generation):
            nodes[index].published = generation
            let made = nodes[index].made
            let storesFirst = isLarge && made?.isShared == true && made?.isStored == false
            nodes[index].step = storesFirst ? .renew : .publish
        case .wait: nodes[index].seen = seen
        case .use, .finish: finish(index)
        default: break
        }
    }

    private var seen: Seen { Seen(holder: holder, generation: record.generation) }

    private func changed(_ change: (inout PurgeWorld) -> Void) -> PurgeWorld {
        var world = self
        change(&world)
        if world.reachable.contains(where: { $0 < world.answered }) {
            world.violation = "a purged version can be reached"
        }
        world.sort()
        return world
    }

    /// All nodes but the last are alike: which of two is where makes no difference.
    private mutating func sort() {
        for index in 1..<max(1, nodes.count - 1)
        where nodes[index - 1].hashValue > nodes[index].hashValue {
            nodes.swapAt(index - 1, index)
            switch holder {
            case index: holder = index - 1
            case index - 1: holder = index
            default: break
            }
            for node in nodes.indices { nodes[node].seen.swap(index - 1, index) }
        }
    }

    /// The versions that somebody who asks now may find.
    private var reachable: [Int] {
        var versions: [Int] = []
        if record.generation > mark, case .bytes(let version) = record.content {
            versions.append(version)
        }
        if let object, object.generation > mark { versions.append(object.version) }
        return versions
    }
}
