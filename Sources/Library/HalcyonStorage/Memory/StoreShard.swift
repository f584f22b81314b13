import CStorage
import Synchronization

/// A part of a store: the values of some keys, behind a lock.
///
/// Removed values are returned, to be released after the lock.
struct StoreShard<Value: Sendable>: ~Copyable, Sendable {
    struct Entry: Sendable {
        var cost: Int
        var value: Value
        /// The last use by the clock of all shards. Kept beside the value, which an access changes,
        /// too.
        var lastUse: UInt64
    }
    typealias Table = KeyTable<Entry>

    private let table = Mutex(Table())
    /// Keeps the shards' locks in cache lines of their own; two lines, as they are fetched in pairs.
    private let padding = InlineArray<16, UInt64>(repeating: 0)

    func peek<R: Sendable>(_ key: StoreKey, _ read: @Sendable (Value) -> R) -> R? {
        table.withLock { table in
            guard let slot = table.slot(of: key), let entry = table[slot] else { return nil }
            return read(entry.value)
        }
    }

    /// Applies `change` to the key's value, whose cost stays. Counts as a use unless the result is
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

    /// Stores `value`, replacing the key's former one, if `budget` has room. If it is full, the
    /// former one stays and becomes the most recently used, so that others are evicted before it.
    /// Takes `value` when it is placed, and removes the former one also if `value` is too costly.
    func place(
        _ value: inout Value?, cost: Int, forKey key: StoreKey, at clock: borrowing UseClock,
        within budget: inout StoreBudget
    ) -> (answer: StoreBudget.Answer, former: Value?) {
        table.withLock { table in
            let slot = table.slot(of: key)
            let formerCost = slot.flatMap { table[$0]?.cost }
            let answer = budget.reserve(cost, inPlaceOf: formerCost)
            switch answer {
            case .tooCostly:
                guard let slot else { return (answer, nil) }
                let former = table.remove(slot)
                budget.release(former.cost)
                return (answer, former.value)
            case .full:
                if let slot { table.update(slot) { $0.lastUse = clock.next() } }
                return (answer, nil)
            case .reserved:
                let entry = Entry(cost: cost, value: value.take()!, lastUse: clock.next())
                guard let slot else {
                    table.insert(entry, forKey: key)
                    return (answer, nil)
                }
                let former = table.update(slot) { former in
                    defer { former = entry }
                    return former.value
                }
                return (answer, former)
            }
        }
    }

    func remove(_ key: StoreKey) -> Entry? {
        table.withLock { table in
            table.slot(of: key).map { table.remove($0) }
        }
    }

    func remove(_ slot: Table.Slot, ifUsedAt use: UInt64) -> Entry? {
        table.withLock { table in
            table[slot]?.lastUse == use ? table.remove(slot) : nil
        }
    }

    func removeAll(
        where shouldRemove: @Sendable (String, Value) -> Bool
    ) -> [(key: String, entry: Entry)] {
        table.withLock { table in
            table.slots.compactMap { slot in
                guard let entry = table[slot], case let key = table.key(of: slot),
                    shouldRemove(key, entry.value)
                else { return nil }
                return (key, table.remove(slot))
            }
        }
    }

    /// Removes all values, with the memory of their table.
    func removeAll() -> Table {
        table.withLock { table in
            defer { table = Table() }
            return table
        }
    }

    func uses() -> [(slot: Table.Slot, use: UInt64)] {
        table.withLock { table in
            table.slots.compactMap { slot in
                table[slot].map { (slot, $0.lastUse) }
            }
        }
    }
}

/// Values by key; each change takes constant time.
///
/// One array holds everything: an element is found through a list of those whose hashes fall into the
/// same bucket. Elements are named by slots, which are reused after removal.
struct KeyTable<Value> {
    typealias Slot = Int

    private struct Element {
        var key: String
        var hash: UInt64
        /// `nil` in a slot that is free.
        var value: Value?
        /// The next element of the same bucket, or the next free slot.
        var next: Slot
    }

    private static var none: Slot { -1 }

    private var elements: ContiguousArray<Element> = []
    /// The first slot of each bucket; a power of two of them, at least twice as many as elements.
    private var buckets = ContiguousArray(repeating: Self.none, count: 16)
    private var free: Slot = Self.none

    private(set) var count = 0

    /// All slots, also those that are free.
    var slots: Range<Slot> { elements.indices }

    func slot(of key: StoreKey) -> Slot? {
        var slot = buckets[bucket(of: key.hash)]
        while slot != Self.none {
            if elements[slot].hash == key.hash, elements[slot].key == key.text { return slot }
            slot = elements[slot].next
        }
        return nil
    }

    func key(of slot: Slot) -> String { elements[slot].key }

    /// The value of a slot; `nil` if it is free.
    subscript(slot: Slot) -> Value? { elements[slot].value }

    /// Lets `change` change the value of a slot that is in use, in place.
    mutating func update<R>(_ slot: Slot, _ change: (inout Value) -> R) -> R {
        change(&elements[slot].value!)
    }

    /// Adds a value under a key that has none.
    @discardableResult
    mutating func insert(_ value: consuming Value, forKey key: StoreKey) -> Slot {
        if 2 * count >= buckets.count { grow() }
        let bucket = bucket(of: key.hash)
        let next = buckets[bucket]
        let slot: Slot
        if free == Self.none {
            slot = elements.count
            elements.append(Element(key: key.text, hash: key.hash, value: value, next: next))
        } else {
            slot = free
            free = elements[slot].next
            elements[slot].key = key.text
            elements[slot].hash = key.hash
            elements[slot].value = value
            elements[slot].next = next
        }
        buckets[bucket] = slot
        count += 1
        return slot
    }

    /// Removes the element of a slot that is in use. The slot may then be given to another element.
    mutating func remove(_ slot: Slot) -> Value {
        leaveBucket(slot)
        let value = elements[slot].value.take()!
        elements[slot].key = ""
        elements[slot].next = free
        free = slot
        count -= 1
        return value
    }

    private func bucket(of hash: UInt64) -> Int {
        Int(truncatingIfNeeded: hash) & (buckets.count - 1)
    }

    private mutating func grow() {
        buckets = ContiguousArray(repeating: Self.none, count: 2 * buckets.count)
        for slot in elements.indices where elements[slot].value != nil {
            let bucket = bucket(of: elements[slot].hash)
            elements[slot].next = buckets[bucket]
            buckets[bucket] = slot
        }
    }

    private mutating func leaveBucket(_ slot: Slot) {
        let bucket = bucket(of: elements[slot].hash)
        if buckets[bucket] == slot {
            buckets[bucket] = elements[slot].next
            return
        }
        var former = buckets[bucket]
        while elements[former].next != slot { former = elements[former].next }
        elements[former].next = elements[slot].next
    }
}

/// A key and its hash, which is made once, before any lock is taken.
struct StoreKey: Sendable {
    let text: String
    let hash: UInt64

    init(_ text: String) {
        self.text = text
        hash = Self.hash(of: text)
    }

    /// Drawn anew by each process: keys may come from strangers, and must not be made to collide.
    private static let seed = UInt64.random(in: 0 ... .max)

    /// XXH3 of the UTF-8 bytes: a third of the time that `Hasher` takes for a URL.
    private static func hash(of text: String) -> UInt64 {
        let seed = seed
        let hash = text.utf8.withContiguousStorageIfAvailable {
            XXH3_64bits_withSeed($0.baseAddress, $0.count, seed)
        }
        if let hash { return hash }
        var text = text
        return text.withUTF8 { XXH3_64bits_withSeed($0.baseAddress, $0.count, seed) }
    }
}
