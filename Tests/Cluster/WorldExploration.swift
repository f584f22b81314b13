/// Something of which all that may happen next can be told.
protocol ExplorableWorld: Hashable {
    var successors: [Self] { get }
    /// What must not be, if it is.
    var violation: String? { get }
    /// Whether all have what they wanted.
    var isOver: Bool { get }
}

/// What was seen on all ways from a world.
struct WorldExploration {
    private(set) var states = 0
    private(set) var ends = 0
    private(set) var violations: Set<String> = []
    /// Ends at which somebody still waits.
    private(set) var stuck = 0

    /// - Parameter onEnd: Called with each world that is over.
    init<World: ExplorableWorld>(_ start: World, onEnd: (World) -> Void = { _ in }) {
        var seen: Set<World> = [start]
        var line = [start]
        while let world = line.popLast() {
            states += 1
            if let violation = world.violation {
                violations.insert(violation)
                continue
            }
            let successors = world.successors
            if world.isOver {
                ends += 1
                onEnd(world)
            } else if successors.isEmpty {
                stuck += 1
            }
            for next in successors where seen.insert(next).inserted { line.append(next) }
        }
    }
}
