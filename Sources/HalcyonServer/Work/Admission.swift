/// Decides who may pass a gate that lets only so many through at a time, and who waits.
///
/// Who came first goes first, except that nobody waits for a group that has all the places it may have.
struct Admission {
    /// What entering asks for.
    enum Entry: Hashable {
        case pass
        case wait
        /// As many wait as may.
        case full
    }

    /// Places in all.
    let width: Int
    /// Places of one group.
    let widthOfGroup: Int
    /// The most that may wait; of one group half of it, so that one that is slow does not keep others out.
    let queue: Int

    private var line: [(id: Int, group: String)] = []
    private var passing = 0
    private var groups: [String: Int] = [:]

    init(width: Int, widthOfGroup: Int? = nil, queue: Int) {
        self.width = width
        self.widthOfGroup = widthOfGroup ?? width
        self.queue = queue
    }

    var passingCount: Int { passing }
    var waitingCount: Int { line.count }

    mutating func enter(_ id: Int, group: String) -> Entry {
        if passing < width, groups[group, default: 0] < widthOfGroup {
            take(group)
            return .pass
        }
        let share = widthOfGroup < width ? (queue + 1) / 2 : queue
        guard line.count < queue, line.count(where: { $0.group == group }) < share else {
            return .full
        }
        line.append((id, group))
        return .wait
    }

    /// Takes somebody out of the line; `false` when he is not in it.
    mutating func abandon(_ id: Int) -> Bool {
        guard let index = line.firstIndex(where: { $0.id == id }) else { return false }
        line.remove(at: index)
        return true
    }

    /// Gives a place back.
    ///
    /// - Returns: Who passes in its place.
    mutating func leave(group: String) -> Int? {
        passing -= 1
        let count = groups[group, default: 0] - 1
        groups[group] = count > 0 ? count : nil
        guard
            let index = line.firstIndex(where: { groups[$0.group, default: 0] < widthOfGroup })
        else { return nil }
        let next = line.remove(at: index)
        take(next.group)
        return next.id
    }

    private mutating func take(_ group: String) {
        passing += 1
        groups[group, default: 0] += 1
    }
}
