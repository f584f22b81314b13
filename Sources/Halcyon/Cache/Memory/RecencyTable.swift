/// Values by key, in the order of their last use; each change takes constant time.
///
/// One array holds everything: an element is found through a list of those whose hashes fall into the
/// same bucket, and is a link of the list of all elements by recency. Elements are named by slots, which
/// are reused after removal.
struct RecencyTable<Value> {
    typealias Slot = Int

    private struct Element {
        var key: String
        var hash: UInt64
        /// `nil` in a slot that is free.
        var value: Value?
        var newer: Slot
        var older: Slot
        /// The next element of the same bucket, or the next free slot.
        var next: Slot
    }

    private static var none: Slot { -1 }

    private var elements: ContiguousArray<Element> = []
    /// The first slot of each bucket; a power of two of them.
    private var buckets = ContiguousArray(repeating: Self.none, count: 16)
    private var free: Slot = Self.none
    private var newest: Slot = Self.none
    private var oldest: Slot = Self.none

    /// Elements in the table.
    private(set) var count = 0

    /// The slot of the element used longest ago.
    var leastRecent: Slot? { oldest == Self.none ? nil : oldest }

    /// The slots, most recent first.
    var slotsByRecency: [Slot] {
        var slots: [Slot] = []
        var slot = newest
        while slot != Self.none {
            slots.append(slot)
            slot = elements[slot].older
        }
        return slots
    }

    /// The slot of a key.
    func slot(of key: StoreKey) -> Slot? {
        var slot = buckets[bucket(of: key.hash)]
        while slot != Self.none {
            if elements[slot].hash == key.hash, elements[slot].key == key.text { return slot }
            slot = elements[slot].next
        }
        return nil
    }

    /// The key of a slot that is in use.
    func key(of slot: Slot) -> String { elements[slot].key }

    /// The value of a slot that is in use.
    func value(of slot: Slot) -> Value { elements[slot].value! }

    /// Lets `change` change the value of a slot that is in use, in place.
    mutating func update<R>(_ slot: Slot, _ change: (inout Value) -> R) -> R {
        change(&elements[slot].value!)
    }

    /// Adds a value as the most recent one, under a key that has none.
    mutating func insert(_ value: Value, forKey key: StoreKey) {
        if count == buckets.count { grow() }
        let bucket = bucket(of: key.hash)
        let element = Element(
            key: key.text, hash: key.hash, value: value, newer: Self.none, older: Self.none,
            next: buckets[bucket])
        let slot: Slot
        if free == Self.none {
            slot = elements.count
            elements.append(element)
        } else {
            slot = free
            free = elements[slot].next
            elements[slot] = element
        }
        buckets[bucket] = slot
        count += 1
        linkAsNewest(slot)
    }

    /// Makes the element of `slot` the most recent one.
    mutating func touch(_ slot: Slot) {
        guard slot != newest else { return }
        unlink(slot)
        linkAsNewest(slot)
    }

    /// Removes the element of `slot`, which may then be given to another element.
    mutating func remove(_ slot: Slot) -> Value {
        let value = value(of: slot)
        unlink(slot)
        leaveBucket(slot)
        elements[slot].key = ""
        elements[slot].value = nil
        elements[slot].next = free
        free = slot
        count -= 1
        return value
    }

    // MARK: Buckets

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

    // MARK: Recency

    private mutating func linkAsNewest(_ slot: Slot) {
        elements[slot].newer = Self.none
        elements[slot].older = newest
        if newest == Self.none {
            oldest = slot
        } else {
            elements[newest].newer = slot
        }
        newest = slot
    }

    private mutating func unlink(_ slot: Slot) {
        let (newer, older) = (elements[slot].newer, elements[slot].older)
        if newer == Self.none { newest = older } else { elements[newer].older = older }
        if older == Self.none { oldest = newer } else { elements[older].newer = newer }
    }
}
