/// Decides who does work that several callers want, who waits for it, how urgent it is, and how long
/// its result is kept for those who come late.
///
/// A pure value: whoever holds it carries out what it returns. The first caller for a key starts the
/// work, later ones share it until it ends. Results are kept only for retentions: a caller who may need
/// a result retains those of a group of keys before looking elsewhere. A result stays as long as one
/// of the retentions that began before it; those that begin in that time may use it until they are
/// released. Whoever comes later finds what the first ones have made of it, or starts anew.
package struct WorkLedger<Group: Hashable, Key: Hashable, Job, Caller, Result> {
    /// Identifies a caller of a piece of work.
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

    /// The time during which a caller may need results of a group, which are kept for it.
    package struct Retention: Hashable {
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

    fileprivate struct Waiter {
        let token: Int
        let caller: Caller
        let retention: Retention?
        var priority: Float
    }

    fileprivate struct Entry {
        let key: Key
        let job: Job
        var waiters: [Waiter] = []
        var nextToken = 0
        /// That of the most urgent caller.
        var priority: Float

        // No key path, which would be made anew each time: the type is generic.
        var callers: [Caller] { waiters.map { $0.caller } }
    }

    /// A result and how many of those are still there who may use it.
    fileprivate struct Kept {
        let result: Result
        /// Retentions up to here began before the result was there.
        let first: Int
        /// Retentions of these that have not been released.
        var firstCount: Int
        /// Retentions up to here began while one of those was there; set when the last of them is released.
        var last: Int?
        /// Retentions up to `last` that have not been released.
        var lastCount = 0
    }

    /// The results that are kept in a group, and how many retentions it has.
    fileprivate struct Results {
        var count = 0
        var kept: [Key: Kept] = [:]
    }

    private var entries: [Int: Entry] = [:]
    private var running: [Key: Int] = [:]
    private var groups: [Group: Results] = [:]
    private var nextWork = 0
    private var lastRetention = 0

    package init() {}

    /// Whether nobody waits and nothing is retained.
    package var isIdle: Bool { entries.isEmpty && groups.isEmpty }

    /// Whether there is work for `key` that can be joined.
    package func isUnderWay(_ key: Key) -> Bool { running[key] != nil }

    /// All callers that wait, those of the oldest work first.
    package var tickets: [(Job, Ticket)] {
        entries.sorted { $0.key < $1.key }.flatMap { id, entry in
            entry.waiters.map { (entry.job, Ticket(work: id, token: $0.token)) }
        }
    }
}

// MARK: Callers

extension WorkLedger {
    /// Adds a caller to the work for `key`; its job is made by `makeJob`, of the work's number, when none
    /// is under way.
    package mutating func join(
        _ caller: Caller, for key: Key, during retention: Retention? = nil, priority: Float = 0,
        makeJob: (Int) -> Job
    ) -> Join {
        if let retention, let result = result(for: key, during: retention) { return .done(result) }
        if let work = running[key], let index = entries.index(forKey: work) {
            let (job, token) = entries.values[index].add(caller, retention, priority)
            return .share(job, Ticket(work: work, token: token))
        }
        let work = nextWork
        nextWork += 1
        var entry = Entry(key: key, job: makeJob(work), priority: priority)
        let (job, token) = entry.add(caller, retention, priority)
        running[key] = work
        entries[work] = entry
        return .start(job, Ticket(work: work, token: token))
    }

    /// Takes a caller out of its work.
    package mutating func leave(_ ticket: Ticket) -> Leave {
        guard let entry = entries.index(forKey: ticket.work),
            let waiter = entries.values[entry].remove(ticket.token)
        else { return .none }
        let job = entries.values[entry].job
        if !entries.values[entry].waiters.isEmpty { return .keep(job, waiter.caller) }
        remove(ticket.work)
        return .stop(job, waiter.caller)
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

    /// Ends a piece of work; its result, if there is one to keep, stays in the groups that its callers
    /// retain.
    ///
    /// - Returns: The callers to serve, in the order they joined; none when all have left.
    package mutating func finish(_ work: Int, keeping result: Result?) -> [Caller] {
        guard let entry = entries[work] else { return [] }
        remove(work)
        if let result {
            for group in Set(entry.waiters.compactMap { $0.retention?.group }) {
                guard let results = groups[group] else { continue }
                groups[group]?.kept[entry.key] = Kept(
                    result: result, first: lastRetention, firstCount: results.count)
            }
        }
        return entry.callers
    }

    private mutating func remove(_ work: Int) {
        guard let entry = entries.removeValue(forKey: work) else { return }
        running[entry.key] = nil
    }
}

// MARK: Retentions

extension WorkLedger {
    /// Keeps results of the group from now on; `release(_:)` has to follow, once.
    package mutating func retain(_ group: Group) -> Retention {
        lastRetention += 1
        groups[group, default: Results()].count += 1
        return Retention(group: group, serial: lastRetention)
    }

    /// Ends a retention.
    package mutating func release(_ retention: Retention) {
        guard let index = groups.index(forKey: retention.group) else { return }
        groups.values[index].count -= 1
        if groups.values[index].count == 0 {
            groups.remove(at: index)
        } else if !groups.values[index].kept.isEmpty {
            groups.values[index].release(retention, lastRetention: lastRetention)
        }
    }

    private func result(for key: Key, during retention: Retention) -> Result? {
        guard let kept = groups[retention.group]?.kept[key], retention.serial <= kept.last ?? .max
        else {
            return nil
        }
        return kept.result
    }
}

extension WorkLedger.Results {
    mutating func release(_ retention: WorkLedger.Retention, lastRetention: Int) {
        kept = kept.compactMapValues { kept in
            var kept = kept
            if let last = kept.last {
                if retention.serial <= last { kept.lastCount -= 1 }
            } else if retention.serial <= kept.first {
                kept.firstCount -= 1
                if kept.firstCount == 0 {
                    kept.last = lastRetention
                    kept.lastCount = count
                }
            }
            return kept.last != nil && kept.lastCount == 0 ? nil : kept
        }
    }
}

extension WorkLedger.Entry {
    mutating func add(
        _ caller: Caller, _ retention: WorkLedger.Retention?, _ priority: Float
    ) -> (job: Job, token: Int) {
        defer { nextToken += 1 }
        self.priority = waiters.isEmpty ? priority : max(self.priority, priority)
        waiters.append(
            WorkLedger.Waiter(
                token: nextToken, caller: caller, retention: retention, priority: priority))
        return (job, nextToken)
    }

    mutating func remove(_ token: Int) -> WorkLedger.Waiter? {
        guard let index = waiters.firstIndex(where: { $0.token == token }) else { return nil }
        let waiter = waiters.remove(at: index)
        if waiter.priority >= priority { updatePriority() }
        return waiter
    }

    mutating func setPriority(_ priority: Float, of token: Int) {
        guard let index = waiters.firstIndex(where: { $0.token == token }) else { return }
        let former = waiters[index].priority
        waiters[index].priority = priority
        if priority >= self.priority {
            self.priority = priority
        } else if former >= self.priority {
            updatePriority()
        }
    }

    private mutating func updatePriority() {
        // Mostly one of the first is as urgent as the one who was the most urgent.
        guard !waiters.contains(where: { $0.priority == priority }) else { return }
        priority = waiters.lazy.map { $0.priority }.max() ?? priority
    }
}

extension WorkLedger: Sendable
where Group: Sendable, Key: Sendable, Job: Sendable, Caller: Sendable, Result: Sendable {}
extension WorkLedger.Retention: Sendable where Group: Sendable {}
extension WorkLedger.Waiter: Sendable where Group: Sendable, Caller: Sendable {}
extension WorkLedger.Entry: Sendable
where Group: Sendable, Key: Sendable, Job: Sendable, Caller: Sendable {}
extension WorkLedger.Kept: Sendable where Result: Sendable {}
extension WorkLedger.Results: Sendable where Key: Sendable, Result: Sendable {}
extension WorkLedger.Join: Sendable where Job: Sendable, Result: Sendable {}
extension WorkLedger.Leave: Sendable where Job: Sendable, Caller: Sendable {}
