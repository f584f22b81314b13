/// Decides which tasks pass a gate with a limited number of places, and which wait.
///
/// The waiter with the earliest deadline goes first; among equals, and without deadlines, the order
/// of arrival counts. With groups, it is first the turn of the group that holds the fewest places.
/// A slow group cannot take all places: it gets another one only while it holds less than three
/// times as many as are free (the dynamic thresholds of Choudhury and Hahne, made for buffers of
/// switches).
struct Admission {
    enum Entry: Hashable {
        case pass
        case wait
        case full
    }

    let width: Int
    /// The maximum number of places for one group; `nil` without groups.
    let widthOfGroup: Int?
    /// The maximum number of waiters; with groups, one group may have half of them.
    let queue: Int

    private var line: [(id: Int, group: String, deadline: ContinuousClock.Instant?)] = []
    private var passing = 0
    private var groups: [String: Int] = [:]

    init(width: Int, widthOfGroup: Int? = nil, queue: Int) {
        self.width = width
        self.widthOfGroup = widthOfGroup
        self.queue = queue
    }

    var passingCount: Int { passing }
    var waitingCount: Int { line.count }

    mutating func enter(
        _ id: Int, group: String, deadline: ContinuousClock.Instant? = nil
    ) -> Entry {
        if mayPass(group) {
            take(group)
            return .pass
        }
        let share = widthOfGroup == nil ? queue : (queue + 1) / 2
        guard line.count < queue, line.count(where: { $0.group == group }) < share else {
            return .full
        }
        line.append((id, group, deadline))
        return .wait
    }

    /// Removes a waiter from the line; `false` when it is not in it.
    mutating func abandon(_ id: Int) -> Bool {
        guard let index = line.firstIndex(where: { $0.id == id }) else { return false }
        line.remove(at: index)
        return true
    }

    /// Gives a place back; returns the waiter that passes in its place.
    mutating func leave(group: String) -> Int? {
        passing -= 1
        let count = held(group) - 1
        groups[group] = count > 0 ? count : nil
        let turns = line.indices.filter { mayPass(line[$0].group) }
        guard let index = turns.min(by: goesBefore) else { return nil }
        let next = line.remove(at: index)
        take(next.group)
        return next.id
    }

    private func goesBefore(_ index: Int, _ other: Int) -> Bool {
        let (one, other) = (line[index], line[other])
        let (held, heldByOther) = (held(one.group), held(other.group))
        guard held == heldByOther else { return held < heldByOther }
        guard let deadline = one.deadline else { return false }
        return other.deadline.map { deadline < $0 } ?? true
    }

    private func held(_ group: String) -> Int { groups[group, default: 0] }

    private func mayPass(_ group: String) -> Bool {
        guard passing < width else { return false }
        guard let widthOfGroup else { return true }
        return held(group) < min(widthOfGroup, 3 * (width - passing))
    }

    private mutating func take(_ group: String) {
        passing += 1
        groups[group, default: 0] += 1
    }
}
