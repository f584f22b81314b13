import Synchronization

/// A part of a store: the values of some keys, behind a lock.
///
/// What leaves is returned, to be released after the lock.
struct StoreShard<Value: Sendable>: ~Copyable, Sendable {
    /// A value that is kept.
    struct Entry: Sendable {
        var cost: Int
        var value: Value
        /// By the clock of all shards. Beside the value, which an access changes, too.
        var lastUse: UInt64
    }
    typealias Table = KeyTable<Entry>

    /// What became of an attempt to put a value in.
    enum Placement {
        /// The value is in, in place of the former one.
        case placed(former: Value?)
        /// Other values have to leave first.
        case full
        /// It can never be in. The former one is out.
        case tooCostly(former: Value?)
    }

    private let table = Mutex(Table())
    /// Keeps the shards' locks in cache lines of their own; two lines, as they are fetched in pairs.
    private let padding = InlineArray<16, UInt64>(repeating: 0)

    /// What `read` makes of the key's value, which does not count as a use.
    func peek<R: Sendable>(_ key: StoreKey, _ read: @Sendable (Value) -> R) -> R? {
        table.withLock { table in
            guard let slot = table.slot(of: key), let entry = table[slot] else { return nil }
            return read(entry.value)
        }
    }

    /// Lets `change` change the key's value, whose cost stays. That is a use unless the result is
    /// `nil`.
    func use<R: Sendable>(
        _ key: StoreKey, at clock: borrowing UseClock, _ change: @Sendable (inout Value) -> R?
    ) -> R? {
        table.withLock { table in
            guard let slot = table.slot(of: key) else { return nil }
            return table.update(slot) { entry in
                let result = change(&entry.value)
                if result != nil { entry.lastUse = clock.next() }
                return result
            }
        }
    }

    /// Puts `value` in place of the key's former one if `budget` has room. If it is full, the former
    /// one stays and is now the last one used, so that others leave before it.
    func place(
        _ value: Value, cost: Int, forKey key: StoreKey, at clock: borrowing UseClock,
        within budget: inout StoreBudget
    ) -> Placement {
        table.withLock { table in
            let slot = table.slot(of: key)
            let formerCost = slot.flatMap { table[$0]?.cost }
            switch budget.reserve(cost, inPlaceOf: formerCost) {
            case .tooCostly:
                guard let slot else { return .tooCostly(former: nil) }
                let former = table.remove(slot)
                budget.release(former.cost)
                return .tooCostly(former: former.value)
            case .full:
                if let slot { table.update(slot) { $0.lastUse = clock.next() } }
                return .full
            case .reserved:
                let entry = Entry(cost: cost, value: value, lastUse: clock.next())
                guard let slot else {
                    table.insert(entry, forKey: key)
                    return .placed(former: nil)
                }
                let former = table.update(slot) { former in
                    defer { former = entry }
                    return former.value
                }
                return .placed(former: former)
            }
        }
    }

    /// Removes the key's value.
    func remove(_ key: StoreKey) -> Entry? {
        table.withLock { table in
            table.slot(of: key).map { table.remove($0) }
        }
    }

    /// Removes the value of `slot` if it was used last at `use`.
    func remove(_ slot: Table.Slot, ifUsedAt use: UInt64) -> Entry? {
        table.withLock { table in
            table[slot]?.lastUse == use ? table.remove(slot) : nil
        }
    }

    /// Removes all values that `shouldRemove` names.
    func removeAll(where shouldRemove: @Sendable (Value) -> Bool) -> [Entry] {
        table.withLock { table in
            table.slots.compactMap { slot in
                guard let entry = table[slot], shouldRemove(entry.value) else { return nil }
                return table.remove(slot)
            }
        }
    }

    /// Removes all values, with the memory they were kept in.
    func removeAll() -> Table {
        table.withLock { table in
            defer { table = Table() }
            return table
        }
    }

    /// When each value was used last.
    func uses() -> [(slot: Table.Slot, use: UInt64)] {
        table.withLock { table in
            table.slots.compactMap { slot in
                table[slot].map { (slot, $0.lastUse) }
            }
        }
    }
}
