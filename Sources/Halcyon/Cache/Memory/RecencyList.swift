/// An order of elements by their last use, most recent first; each change takes constant time.
///
/// A doubly linked list in an array: elements are named by slots, which are reused after removal.
struct RecencyList<Element> {
    typealias Slot = Int

    private struct Node {
        var element: Element?
        var newer: Slot
        var older: Slot
    }

    private static var none: Slot { -1 }

    private var nodes: [Node] = []
    private var free: [Slot] = []
    private var newest: Slot = Self.none
    private var oldest: Slot = Self.none

    /// Elements in the list.
    var count: Int { nodes.count - free.count }

    /// The element of a slot that is in use.
    subscript(slot: Slot) -> Element {
        get { nodes[slot].element! }
        set { nodes[slot].element = newValue }
    }

    /// The slot of the element used longest ago.
    var leastRecent: Slot? { oldest == Self.none ? nil : oldest }

    /// Adds an element as the most recent one.
    mutating func insert(_ element: Element) -> Slot {
        let slot: Slot
        let node = Node(element: element, newer: Self.none, older: Self.none)
        if let reused = free.popLast() {
            slot = reused
            nodes[slot] = node
        } else {
            slot = nodes.count
            nodes.append(node)
        }
        linkAsNewest(slot)
        return slot
    }

    /// Makes the element of `slot` the most recent one.
    mutating func touch(_ slot: Slot) {
        guard slot != newest else { return }
        unlink(slot)
        linkAsNewest(slot)
    }

    /// Removes the element of `slot`, which may then be given to another element.
    mutating func remove(_ slot: Slot) -> Element {
        let element = self[slot]
        unlink(slot)
        nodes[slot].element = nil
        free.append(slot)
        return element
    }

    /// The elements, most recent first.
    var elements: [Element] {
        var result: [Element] = []
        var slot = newest
        while slot != Self.none {
            result.append(self[slot])
            slot = nodes[slot].older
        }
        return result
    }

    private mutating func linkAsNewest(_ slot: Slot) {
        nodes[slot].newer = Self.none
        nodes[slot].older = newest
        if newest == Self.none {
            oldest = slot
        } else {
            nodes[newest].newer = slot
        }
        newest = slot
    }

    private mutating func unlink(_ slot: Slot) {
        let (newer, older) = (nodes[slot].newer, nodes[slot].older)
        if newer == Self.none { newest = older } else { nodes[newer].older = older }
        if older == Self.none { oldest = newer } else { nodes[older].newer = newer }
    }
}
