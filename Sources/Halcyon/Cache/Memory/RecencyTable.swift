/// Values by key, in the order of their last use; each change takes constant time.
///
/// Each element is also a link of the list of all elements by recency.
struct RecencyTable<Value> {
    private struct Link {
        var value: Value
        var newer: Slot
        var older: Slot
    }

    typealias Slot = Int

    private static var none: Slot { -1 }

    private var links = KeyTable<Link>()
    private var newest: Slot = Self.none
    private var oldest: Slot = Self.none

    /// Elements in the table.
    var count: Int { links.count }

    /// The slot of the element used longest ago.
    var leastRecent: Slot? { oldest == Self.none ? nil : oldest }

    /// The slots, most recent first.
    var slotsByRecency: [Slot] {
        var slots: [Slot] = []
        var slot = newest
        while slot != Self.none {
            slots.append(slot)
            slot = links[slot]!.older
        }
        return slots
    }

    /// The slot of a key.
    func slot(of key: StoreKey) -> Slot? { links.slot(of: key) }

    /// The key of a slot that is in use.
    func key(of slot: Slot) -> String { links.key(of: slot) }

    /// The value of a slot that is in use.
    func value(of slot: Slot) -> Value { links[slot]!.value }

    /// Lets `change` change the value of a slot that is in use, in place.
    mutating func update<R>(_ slot: Slot, _ change: (inout Value) -> R) -> R {
        links.update(slot) { change(&$0.value) }
    }

    /// Adds a value as the most recent one, under a key that has none.
    mutating func insert(_ value: Value, forKey key: StoreKey) {
        let link = Link(value: value, newer: Self.none, older: Self.none)
        linkAsNewest(links.insert(link, forKey: key))
    }

    /// Makes the element of `slot` the most recent one.
    mutating func touch(_ slot: Slot) {
        guard slot != newest else { return }
        unlink(slot)
        linkAsNewest(slot)
    }

    /// Removes the element of `slot`, which may then be given to another element.
    mutating func remove(_ slot: Slot) -> Value {
        unlink(slot)
        return links.remove(slot).value
    }

    private mutating func linkAsNewest(_ slot: Slot) {
        let former = newest
        links.update(slot) { link in
            link.newer = Self.none
            link.older = former
        }
        if former == Self.none {
            oldest = slot
        } else {
            links.update(former) { $0.newer = slot }
        }
        newest = slot
    }

    private mutating func unlink(_ slot: Slot) {
        let (newer, older) = links.update(slot) { ($0.newer, $0.older) }
        if newer == Self.none { newest = older } else { links.update(newer) { $0.older = older } }
        if older == Self.none { oldest = newer } else { links.update(older) { $0.newer = newer } }
    }
}
