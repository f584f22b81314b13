/// Decides who does work that several callers want, who waits for it, how urgent it is, and how long
/// its result is kept for those who come late.
///
/// A pure value: whoever holds it carries out what it returns. The first caller for a key starts the
/// work, later ones share it until it ends. Results are kept only during visits: a caller who may need
/// a result announces a visit in a group of keys before looking elsewhere. A result stays as long as a
/// visitor is there who came before it; those who came in that time may use it until they go. Whoever
/// comes later finds what the first ones have made of it, or starts anew.
package struct WorkLedger<Group: Hashable, Key: Hashable, Job, Caller, Result> {
    /// One caller's place in a piece of work.
    package struct Ticket: Hashable, Sendable {
        /// The work, counted from 0.
        package let work: Int
        /// The caller, counted from 0 within the work.
        package let token: Int

        package init(work: Int, token: Int) {
            self.work = work
            self.token = token
        }
    }

    /// The time during which a caller may need a result of a group.
    package struct Visit: Hashable {
        package let group: Group
        fileprivate let serial: Int
    }

    /// What joining asks for.
    package enum Join {
        /// The caller is the first: the new job has to be started.
        case start(Job, Ticket)
        /// A job that is under way serves the caller too.
        case share(Job, Ticket)
        /// The work has been done already.
        case done(Result)
    }

    /// What leaving asks for.
    package enum Leave {
        /// The caller has left or been served before.
        case none
        /// The job goes on for others.
        case keep(Job, Caller)
        /// Nobody is left: the job has to be stopped.
        case stop(Job, Caller)
    }

    fileprivate struct Place {
        let token: Int
        let caller: Caller
        let visit: Visit?
        var priority: Float
    }

    fileprivate struct Entry {
        let key: Key
        let job: Job
        var places: [Place] = []
        var nextToken = 0
        /// That of the most urgent caller.
        var priority: Float

        // No key path, which would be made anew each time: the type is generic.
        var callers: [Caller] { places.map { $0.caller } }
    }

    /// A result and how many of those are still there who may use it.
    fileprivate struct Kept {
        let result: Result
        /// Visits up to here began before the result was there.
        let first: Int
        /// Visits of these that have not ended.
        var firstCount: Int
        /// Visits up to here began while one of those was there; set when the last of them ends.
        var last: Int?
        /// Visits up to `last` that have not ended.
        var lastCount = 0
    }

    fileprivate struct Visitors {
        var count = 0
        var kept: [Key: Kept] = [:]
    }

    private var entries: [Int: Entry] = [:]
    private var running: [Key: Int] = [:]
    private var groups: [Group: Visitors] = [:]
    private var nextWork = 0
    private var lastVisit = 0

    package init() {}

    /// Whether nobody waits, nobody visits and nothing is kept.
    package var isIdle: Bool { entries.isEmpty && groups.isEmpty }

    /// Whether there is work for `key` that can be joined.
    package func isUnderWay(_ key: Key) -> Bool { running[key] != nil }

    /// All places taken, those of the oldest work first.
    package var tickets: [(Job, Ticket)] {
        entries.sorted { $0.key < $1.key }.flatMap { id, entry in
            entry.places.map { (entry.job, Ticket(work: id, token: $0.token)) }
        }
    }
}

// MARK: Callers

extension WorkLedger {
    /// Adds a caller to the work for `key`; its job is made by `makeJob`, of the work's number, when none
    /// is under way.
    package mutating func join(
        _ caller: Caller, for key: Key, during visit: Visit? = nil, priority: Float = 0,
        makeJob: (Int) -> Job
    ) -> Join {
        if let visit, let result = result(for: key, during: visit) { return .done(result) }
        if let work = running[key], let index = entries.index(forKey: work) {
            let (job, token) = entries.values[index].add(caller, visit, priority)
            return .share(job, Ticket(work: work, token: token))
        }
        let work = nextWork
        nextWork += 1
        var entry = Entry(key: key, job: makeJob(work), priority: priority)
        let (job, token) = entry.add(caller, visit, priority)
        running[key] = work
        entries[work] = entry
        return .start(job, Ticket(work: work, token: token))
    }

    /// Takes a caller out of its work.
    package mutating func leave(_ ticket: Ticket) -> Leave {
        guard let entry = entries.index(forKey: ticket.work),
            let place = entries.values[entry].remove(ticket.token)
        else { return .none }
        let job = entries.values[entry].job
        if !entries.values[entry].places.isEmpty { return .keep(job, place.caller) }
        remove(ticket.work)
        return .stop(job, place.caller)
    }

    /// Makes a caller more or less urgent.
    package mutating func setPriority(_ priority: Float, of ticket: Ticket) {
        guard let entry = entries.index(forKey: ticket.work) else { return }
        entries.values[entry].setPriority(priority, of: ticket.token)
    }

    /// The priority of the most urgent caller, and the job; `nil` when the work has ended.
    package func urgency(of work: Int) -> (Job, Float)? {
        entries[work].map { ($0.job, $0.priority) }
    }

    /// Who waits for a piece of work now, in the order they joined.
    package func callers(of work: Int) -> [Caller] {
        entries[work]?.callers ?? []
    }

    /// Ends a piece of work; its result, if there is one to keep, stays for the visitors of the groups
    /// its callers visit.
    ///
    /// - Returns: The callers to serve, in the order they joined; none when all have left.
    package mutating func finish(_ work: Int, keeping result: Result?) -> [Caller] {
        guard let entry = entries[work] else { return [] }
        remove(work)
        if let result {
            for group in Set(entry.places.compactMap { $0.visit?.group }) {
                guard let visitors = groups[group] else { continue }
                groups[group]?.kept[entry.key] = Kept(
                    result: result, first: lastVisit, firstCount: visitors.count)
            }
        }
        return entry.callers
    }

    private mutating func remove(_ work: Int) {
        guard let entry = entries.removeValue(forKey: work) else { return }
        running[entry.key] = nil
    }
}

// MARK: Visits

extension WorkLedger {
    /// Begins a visit; `end(_:)` has to follow, once.
    package mutating func visit(_ group: Group) -> Visit {
        lastVisit += 1
        groups[group, default: Visitors()].count += 1
        return Visit(group: group, serial: lastVisit)
    }

    /// Ends a visit.
    package mutating func end(_ visit: Visit) {
        guard let index = groups.index(forKey: visit.group) else { return }
        groups.values[index].count -= 1
        if groups.values[index].count == 0 {
            groups.remove(at: index)
        } else if !groups.values[index].kept.isEmpty {
            groups.values[index].release(by: visit, lastVisit: lastVisit)
        }
    }

    private func result(for key: Key, during visit: Visit) -> Result? {
        guard let kept = groups[visit.group]?.kept[key], visit.serial <= kept.last ?? .max else {
            return nil
        }
        return kept.result
    }
}

extension WorkLedger.Visitors {
    mutating func release(by visit: WorkLedger.Visit, lastVisit: Int) {
        kept = kept.compactMapValues { kept in
            var kept = kept
            if let last = kept.last {
                if visit.serial <= last { kept.lastCount -= 1 }
            } else if visit.serial <= kept.first {
                kept.firstCount -= 1
                if kept.firstCount == 0 {
                    kept.last = lastVisit
                    kept.lastCount = count
                }
            }
            return kept.last != nil && kept.lastCount == 0 ? nil : kept
        }
    }
}

extension WorkLedger.Entry {
    mutating func add(
        _ caller: Caller, _ visit: WorkLedger.Visit?, _ priority: Float
    ) -> (job: Job, token: Int) {
        defer { nextToken += 1 }
        self.priority = places.isEmpty ? priority : max(self.priority, priority)
        places.append(
            WorkLedger.Place(
                token: nextToken, caller: caller, visit: visit, priority: priority))
        return (job, nextToken)
    }

    mutating func remove(_ token: Int) -> WorkLedger.Place? {
        guard let index = places.firstIndex(where: { $0.token == token }) else { return nil }
        let place = places.remove(at: index)
        if place.priority >= priority { updatePriority() }
        return place
    }

    mutating func setPriority(_ priority: Float, of token: Int) {
        guard let index = places.firstIndex(where: { $0.token == token }) else { return }
        let former = places[index].priority
        places[index].priority = priority
        if priority >= self.priority {
            self.priority = priority
        } else if former >= self.priority {
            updatePriority()
        }
    }

    private mutating func updatePriority() {
        // Mostly one of the first is as urgent as the one who was the most urgent.
        guard !places.contains(where: { $0.priority == priority }) else { return }
        priority = places.lazy.map { $0.priority }.max() ?? priority
    }
}

extension WorkLedger: Sendable
where Group: Sendable, Key: Sendable, Job: Sendable, Caller: Sendable, Result: Sendable {}
extension WorkLedger.Visit: Sendable where Group: Sendable {}
extension WorkLedger.Place: Sendable where Group: Sendable, Caller: Sendable {}
extension WorkLedger.Entry: Sendable
where Group: Sendable, Key: Sendable, Job: Sendable, Caller: Sendable {}
extension WorkLedger.Kept: Sendable where Result: Sendable {}
extension WorkLedger.Visitors: Sendable where Key: Sendable, Result: Sendable {}
extension WorkLedger.Join: Sendable where Job: Sendable, Result: Sendable {}
extension WorkLedger.Leave: Sendable where Job: Sendable, Caller: Sendable {}
