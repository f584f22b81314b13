/// Decides which transfers serve which waiters: equal requests share one transfer.
///
/// A pure value; whoever holds it performs what it returns.
struct Coalescer<Key: Hashable, Transfer, Waiter> {
    /// One waiter's place in a transfer.
    struct Ticket: Hashable, Sendable {
        /// Counts transfers from 0.
        let transfer: Int
        /// Counts the waiters of the transfer from 0.
        let token: Int
    }

    /// What joining asks for.
    enum Join {
        /// The waiter is the first: the new transfer has to be started.
        case start(Transfer, Ticket)
        /// A running transfer serves the waiter too.
        case share(Transfer, Ticket)

        var transfer: Transfer {
            switch self {
            case .start(let transfer, _), .share(let transfer, _): transfer
            }
        }

        var isStart: Bool { if case .start = self { true } else { false } }
    }

    /// What leaving asks for.
    enum Leave {
        /// The waiter has left or been served before.
        case none
        /// The transfer goes on for others.
        case keep(Transfer, Waiter)
        /// Nobody is left: the transfer has to be cancelled.
        case cancel(Transfer, Waiter)
    }

    fileprivate struct Entry {
        let key: Key
        let transfer: Transfer
        var waiters: [(token: Int, waiter: Waiter)] = []
        var nextToken = 0

        mutating func add(_ waiter: Waiter) -> Int {
            defer { nextToken += 1 }
            waiters.append((nextToken, waiter))
            return nextToken
        }
    }

    private var entries: [Int: Entry] = [:]
    private var running: [Key: Int] = [:]
    private var nextTransfer = 0

    /// All places taken, oldest transfer first.
    var tickets: [(Transfer, Ticket)] {
        entries.sorted { $0.key < $1.key }.flatMap { id, entry in
            entry.waiters.map { (entry.transfer, Ticket(transfer: id, token: $0.token)) }
        }
    }

    /// Adds a waiter to the transfer for `key`, made by `makeTransfer` when none is running.
    mutating func join(_ waiter: Waiter, for key: Key, makeTransfer: (Int) -> Transfer) -> Join {
        if let id = running[key], let token = entries[id]?.add(waiter),
            let transfer = entries[id]?.transfer
        {
            return .share(transfer, Ticket(transfer: id, token: token))
        }
        let id = nextTransfer
        nextTransfer += 1
        var entry = Entry(key: key, transfer: makeTransfer(id))
        let token = entry.add(waiter)
        running[key] = id
        let transfer = entry.transfer
        entries[id] = entry
        return .start(transfer, Ticket(transfer: id, token: token))
    }

    /// Takes a waiter out of its transfer.
    mutating func leave(_ ticket: Ticket) -> Leave {
        guard
            let index = entries[ticket.transfer]?.waiters.firstIndex(where: {
                $0.token == ticket.token
            }), let waiter = entries[ticket.transfer]?.waiters.remove(at: index).waiter,
            let entry = entries[ticket.transfer]
        else { return .none }
        guard entry.waiters.isEmpty else { return .keep(entry.transfer, waiter) }
        remove(ticket.transfer)
        return .cancel(entry.transfer, waiter)
    }

    /// Ends a transfer.
    ///
    /// - Returns: The waiters to serve, in the order they joined; none when all have left.
    mutating func finish(_ transfer: Int) -> [Waiter] {
        let waiters = waiters(of: transfer)
        remove(transfer)
        return waiters
    }

    /// Who waits for a transfer now, in the order they joined.
    func waiters(of transfer: Int) -> [Waiter] {
        entries[transfer]?.waiters.map { $0.waiter } ?? []
    }

    private mutating func remove(_ transfer: Int) {
        guard let entry = entries.removeValue(forKey: transfer) else { return }
        running[entry.key] = nil
    }
}

extension Coalescer: Sendable where Key: Sendable, Transfer: Sendable, Waiter: Sendable {}
extension Coalescer.Entry: Sendable where Key: Sendable, Transfer: Sendable, Waiter: Sendable {}
