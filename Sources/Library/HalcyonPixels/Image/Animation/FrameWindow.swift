/// Decides which decoded frames of one animation are kept, and which is decoded next, from where its
/// viewers are and what fits into the budget.
///
/// If all frames fit, whatever was decoded is kept. Otherwise each viewer has the frames that it shows
/// next, nearest first, in turns. One frame is decoded at a time.
package struct FrameWindow {
    package typealias ViewerID = Int

    struct Action: Equatable {
        var dropped: [Int] = []
        /// The frame to decode now; `loaded(_:bytes:)` or `failed(_:)` must be called afterwards.
        var load: Int?
    }

    private enum Demand {
        /// The present frame, then those after it.
        case showing
        /// Those after the present frame, which the viewer has itself.
        case following
        case present
        case nothing
    }

    private struct Viewer {
        let id: ViewerID
        let lookahead: Int
        var position: Int
        var demand = Demand.showing
    }

    let frameCount: Int
    let budget: Int
    private(set) var held: Set<Int> = []
    private(set) var failed: Set<Int> = []
    private(set) var loading: Int?

    private var bytesPerFrame: Int
    private var viewers: [Viewer] = []
    private var nextID = 0

    init(frameCount: Int, bytesPerFrame: Int, budget: Int) {
        self.frameCount = frameCount
        self.bytesPerFrame = max(1, bytesPerFrame)
        self.budget = budget
    }

    /// Frames that may be in memory or on their way: as many as the budget allows, but one for each
    /// viewer, without which it could not go on.
    var capacity: Int { max(budget / bytesPerFrame, viewers.count, 1) }

    private var keepsAll: Bool { frameCount <= capacity }

    /// Adds a viewer that is about to show frame `position` and wants `lookahead` more after it.
    mutating func join(at position: Int, lookahead: Int) -> (id: ViewerID, action: Action) {
        nextID += 1
        viewers.append(
            Viewer(id: nextID, lookahead: max(1, lookahead), position: position % frameCount))
        return (nextID, decide())
    }

    /// The viewer has frame `position` and goes on from it.
    mutating func move(_ id: ViewerID, to position: Int) -> Action {
        go(id, to: position, .following)
    }

    /// The viewer is about to show frame `position`, which it has not.
    mutating func seek(_ id: ViewerID, to position: Int) -> Action {
        go(id, to: position, .showing)
    }

    private mutating func go(_ id: ViewerID, to position: Int, _ demand: Demand) -> Action {
        change(id) { [frameCount] in
            $0.position = position % frameCount
            $0.demand = demand
        }
        return decide()
    }

    /// The viewer needs nothing, except its present frame if `keepsPresent`, until it moves again. What
    /// no other viewer wants is let go.
    mutating func purge(_ id: ViewerID, keepsPresent: Bool) -> Action {
        change(id) { $0.demand = keepsPresent ? .present : .nothing }
        return decide()
    }

    mutating func leave(_ id: ViewerID) -> Action {
        viewers.removeAll { $0.id == id }
        return decide()
    }

    /// A frame was decoded; if it is among the dropped ones, it is no longer wanted.
    mutating func loaded(_ index: Int, bytes: Int) -> Action {
        loading = nil
        held.insert(index)
        bytesPerFrame = max(bytesPerFrame, bytes)
        return decide()
    }

    /// A frame cannot be decoded; it is not tried again.
    mutating func failed(_ index: Int) -> Action {
        loading = nil
        failed.insert(index)
        return decide()
    }

    private var isPlaying: Bool {
        viewers.contains { $0.demand == .showing || $0.demand == .following }
    }

    private mutating func change(_ id: ViewerID, _ body: (inout Viewer) -> Void) {
        if let place = viewers.firstIndex(where: { $0.id == id }) { body(&viewers[place]) }
    }

    private mutating func decide() -> Action {
        let wanted = wanted()
        var dropped: [Int] = []
        if !keepsAll || !isPlaying {
            dropped = held.subtracting(wanted.map(\.index)).sorted()
            held.subtract(dropped)
        }
        // What is on its way needs room too, wanted or not.
        let room = loading == nil ? capacity : capacity - 1
        for (index, _) in wanted.reversed() where held.count > room && held.contains(index) {
            held.remove(index)
            dropped.append(index)
        }
        guard loading == nil, held.count < capacity else { return Action(dropped: dropped) }
        loading =
            wanted.first {
                $0.isLoaded && !held.contains($0.index) && !failed.contains($0.index)
            }?.index
        return Action(dropped: dropped, load: loading)
    }

    /// The frames that viewers want, the most urgent first, at most as many as may be held; and whether
    /// they are decoded for it, or only kept.
    private func wanted() -> [(index: Int, isLoaded: Bool)] {
        var wanted: [(index: Int, isLoaded: Bool)] = []
        var places: [Int: Int] = [:]
        func want(_ index: Int, isLoaded: Bool) {
            if let place = places[index] {
                wanted[place].isLoaded = wanted[place].isLoaded || isLoaded
            } else if wanted.count < capacity {
                places[index] = wanted.count
                wanted.append((index, isLoaded))
            }
        }
        let rounds = min(frameCount - 1, viewers.map(\.lookahead).max() ?? 0)
        for round in 0...max(rounds, 1) {
            for viewer in viewers where round <= max(viewer.lookahead, 1) {
                switch viewer.demand {
                case .nothing: continue
                case .present:
                    if round == 0 { want(viewer.position, isLoaded: false) }
                case .showing:
                    want((viewer.position + round) % frameCount, isLoaded: true)
                case .following:
                    // The next frame comes before the present one, which only others may need.
                    let distance = round < 2 ? 1 - round : round
                    want((viewer.position + distance) % frameCount, isLoaded: distance > 0)
                }
            }
        }
        return wanted
    }
}
