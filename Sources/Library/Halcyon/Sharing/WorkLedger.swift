/// Decides who starts work that several callers want, who waits for it, its priority, and how long
/// its result is kept for late callers.
///
/// A pure value: its owner carries out the returned actions. The first caller for a key starts the
/// work, later ones share it until it ends. Results are kept only for retentions: a caller that may
/// need a result retains a group of keys before looking elsewhere. A result is kept until the last
/// retention that began before it is released; retentions that began in that time may use it until
/// they are released. Later callers find the results elsewhere, or start anew.
package struct WorkLedger<
    Group: Hashable & Sendable, Key: Hashable & Sendable, Job: Sendable, Caller: Sendable,
    Result: Sendable
>: Sendable {
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

    /// A period in which a caller may need results of a group, which are kept for it.
    package struct Retention: Hashable, Sendable {
        package let group: Group
        fileprivate let serial: Int
    }

    package enum Join: Sendable {
        /// The caller is the first: the new job must be started.
        case start(Job, Ticket)
        /// A running job also serves this caller.
        case share(Job, Ticket)
        case done(Result)
    }

    package enum Leave: Sendable {
        /// The caller has already left or been served.
        case none
        /// The job goes on for other callers.
        case keep(Job, Caller)
        /// No caller is left: the job must be stopped.
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
        /// The highest priority of the callers.
        var priority: Float

        // No key path, which would be made anew each time: the type is generic.
        var callers: [Caller] { waiters.map { $0.caller } }
    }

    fileprivate struct Kept {
        let result: Result
        /// The last retention that began before the result; once all of those are released, the last
        /// one that began until then.
        var last: Int
        /// Whether later retentions may no longer use it.
        var isClosed = false
    }

    /// The unreleased retentions of a group, in order, and the results kept for them.
    fileprivate struct Results {
        var retentions: [Int] = []
        var kept: [Key: Kept] = [:]
    }

    private var entries: [Int: Entry] = [:]
    private var running: [Key: Int] = [:]
    private var groups: [Group: Results] = [:]
    private var nextWork = 0
    private var lastRetention = 0

    package init() {}

    package var isIdle: Bool { entries.isEmpty && groups.isEmpty }

    package func isUnderWay(_ key: Key) -> Bool { running[key] != nil }

    /// All waiters, those of the oldest work first.
    package var tickets: [(Job, Ticket)] {
        entries.sorted { $0.key < $1.key }.flatMap { id, entry in
            entry.waiters.map { (entry.job, Ticket(work: id, token: $0.token)) }
        }
    }
}

extension WorkLedger {
    /// Adds a caller to the work for `key`; without running work, `makeJob` makes its job from the
    /// work's number.
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

    package mutating func leave(_ ticket: Ticket) -> Leave {
        guard let entry = entries.index(forKey: ticket.work),
            let waiter = entries.values[entry].remove(ticket.token)
        else { return .none }
        let job = entries.values[entry].job
        if !entries.values[entry].waiters.isEmpty { return .keep(job, waiter.caller) }
        remove(ticket.work)
        return .stop(job, waiter.caller)
    }

    package mutating func setPriority(_ priority: Float, of ticket: Ticket) {
        guard let entry = entries.index(forKey: ticket.work) else { return }
        entries.values[entry].setPriority(priority, of: ticket.token)
    }

    /// Returns the job, with the highest priority of its callers; `nil` after the end of the work.
    package func urgency(of work: Int) -> (Job, Float)? {
        entries[work].map { ($0.job, $0.priority) }
    }

    /// Returns the current waiters of a piece of work, in the order of joining.
    package func callers(of work: Int) -> [Caller] {
        entries[work]?.callers ?? []
    }

    /// Ends a piece of work; its result, if it is to be kept, stays in the groups retained by the
    /// callers. Returns those to serve, in the order of joining.
    package mutating func finish(_ work: Int, keeping result: Result?) -> [Caller] {
        guard let entry = entries[work] else { return [] }
        remove(work)
        if let result {
            for group in Set(entry.waiters.compactMap { $0.retention?.group }) {
                groups[group]?.kept[entry.key] = Kept(result: result, last: lastRetention)
            }
        }
        return entry.callers
    }

    private mutating func remove(_ work: Int) {
        guard let entry = entries.removeValue(forKey: work) else { return }
        running[entry.key] = nil
    }
}

extension WorkLedger {
    /// Keeps results of the group from now on, until `release(_:)`, which must be called once.
    package mutating func retain(_ group: Group) -> Retention {
        lastRetention += 1
        groups[group, default: Results()].retentions.append(lastRetention)
        return Retention(group: group, serial: lastRetention)
    }

    package mutating func release(_ retention: Retention) {
        guard let index = groups.index(forKey: retention.group) else { return }
        groups.values[index].release(retention.serial, lastRetention: lastRetention)
        if groups.values[index].retentions.isEmpty { groups.remove(at: index) }
    }

    private func result(for key: Key, during retention: Retention) -> Result? {
        guard let kept = groups[retention.group]?.kept[key],
            !kept.isClosed || retention.serial <= kept.last
        else { return nil }
        return kept.result
    }
}

extension WorkLedger.Results {
    mutating func release(_ serial: Int, lastRetention: Int) {
        if let index = retentions.firstIndex(of: serial) { retentions.remove(at: index) }
        guard !kept.isEmpty, let oldest = retentions.first else { return }
        kept = kept.compactMapValues { kept in
            if oldest <= kept.last { return kept }
            if kept.isClosed { return nil }
            var kept = kept
            kept.last = lastRetention
            kept.isClosed = true
            return kept
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
        // Usually one of the first waiters also has the highest priority.
        guard !waiters.contains(where: { $0.priority == priority }) else { return }
        priority = waiters.lazy.map { $0.priority }.max() ?? priority
    }
}
