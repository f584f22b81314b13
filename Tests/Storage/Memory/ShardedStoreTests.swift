import Dispatch
import HalcyonTestKit
import Testing

@testable import HalcyonStorage

@Suite struct ShardedStoreTests {
    @Test(arguments: 0..<20 as Range<UInt64>) func behavesLikeTheModel(seed: UInt64) {
        var random = SeededGenerator(state: seed)
        var model = CostBoundedModel()
        let store = ShardedStore<Int>()
        for step in 0..<2000 {
            let key = "\(Int.random(in: 0..<40, using: &random))"
            let before = model.entries.map(\.value)
            var left: [Int] = []
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<9:
                let cost = Int.random(in: 0..<30, using: &random)
                left = store.insert(step, cost: cost, forKey: StoreKey(key))
                model.insert(step, cost: cost, key: key)
                left.removeAll { $0 == step }
            case 9..<15:
                let used = store.use(StoreKey(key)) { $0 }
                #expect(used == model.use(key))
            case 15..<18:
                if let removed = store.removeValue(forKey: StoreKey(key)) { left = [removed] }
                model.entries.removeAll { $0.key == key }
            case 18:
                left = store.removeAll { $1 % 7 == 1 }.map(\.entry.value)
                model.entries.removeAll { $0.value % 7 == 1 }
            default:
                let cost =
                    Bool.random(using: &random) ? Int.random(in: 0..<200, using: &random) : nil
                let count =
                    Bool.random(using: &random) ? Int.random(in: 1..<20, using: &random) : nil
                left = store.setLimits(cost: cost, count: count)
                (model.costLimit, model.countLimit) = (cost, count)
                model.evict()
            }
            let now = model.entries.map(\.value)
            #expect(Set(left) == Set(before).subtracting(now))
            #expect(left.count == Set(left).count)
            let (total, count) = (store.budget.totalCost, store.budget.count)
            #expect(total == model.total)
            #expect(count == model.entries.count)
        }
        for entry in model.entries {
            let value = store.peek(StoreKey(entry.key)) { $0 }
            #expect(value == entry.value)
        }
        #expect(valuesByAge(in: store) == model.entries.reversed().map(\.value))
    }

    @Test func valuesLeaveInTheOrderOfTheirUseWhateverTheirShards() {
        var random = SeededGenerator(state: 1)
        let store = ShardedStore<Int>()
        for number in 0..<300 { _ = store.insert(number, cost: 1, forKey: StoreKey("\(number)")) }
        var order: [Int] = []
        // Between two rounds some leave, so that others are used after they were to leave.
        for round in 1...3 {
            order = (100 * (round - 1)..<300).shuffled(using: &random)
            for number in order { _ = store.use(StoreKey("\(number)")) { $0 } }
            if round == 3 { break }
            let leaving = store.removeAll { $1 < 100 * round }
            #expect(leaving.count == 100)
            let evicted = store.setLimits(cost: nil, count: store.budget.count - 1)
            #expect(evicted == [order.first { $0 >= 100 * round }])
            _ = store.setLimits(cost: nil, count: nil)
            for number in evicted {
                _ = store.insert(number, cost: 1, forKey: StoreKey("\(number)"))
            }
        }
        #expect(valuesByAge(in: store) == order)
    }

    @Test func aValueThatGrowsIsReplacedLast() {
        let store = ShardedStore<Int>(costLimit: 10)
        for number in 0..<5 { _ = store.insert(number, cost: 2, forKey: StoreKey("\(number)")) }
        // It is the oldest one, but has to be found until it is replaced.
        let leaving = store.insert(5, cost: 6, forKey: StoreKey("0"))
        #expect(leaving == [1, 2, 0])
        #expect(valuesByAge(in: store) == [3, 4, 5])
    }

    @Test func aValueAboveTheLimitIsNotKeptAndCostsNoOther() {
        let store = ShardedStore<Int>(costLimit: 10)
        _ = store.insert(1, cost: 6, forKey: StoreKey("a"))
        _ = store.insert(2, cost: 2, forKey: StoreKey("b"))
        let leaving = store.insert(3, cost: 11, forKey: StoreKey("b"))
        #expect(leaving == [2, 3])
        #expect(valuesByAge(in: store) == [1])
        let closed = ShardedStore<Int>(countLimit: 0)
        let refused = closed.insert(4, cost: 0, forKey: StoreKey("a"))
        #expect(refused == [4])
    }

    @Test func costsThatCannotBeAddedDoNotStayTogether() {
        let store = ShardedStore<Int>()
        _ = store.insert(1, cost: .max, forKey: StoreKey("a"))
        let leaving = store.insert(2, cost: 1, forKey: StoreKey("b"))
        #expect(leaving == [1])
        _ = store.insert(3, cost: -5, forKey: StoreKey("c"))
        let total = store.budget.totalCost
        #expect(total == 1)
    }

    @Test func peekingIsNoUse() {
        let store = ShardedStore<Int>()
        _ = store.insert(1, cost: 1, forKey: StoreKey("a"))
        _ = store.insert(2, cost: 1, forKey: StoreKey("b"))
        let value = store.peek(StoreKey("a")) { $0 }
        #expect(value == 1)
        #expect(valuesByAge(in: store) == [1, 2])
    }

    @Test func anEmptiedStoreForgetsWhatWasToLeave() {
        let store = ShardedStore<Int>(countLimit: 20)
        for number in 0..<30 { _ = store.insert(number, cost: 1, forKey: StoreKey("\(number)")) }
        let tables = store.removeAll()
        let (total, count) = (store.budget.totalCost, store.budget.count)
        #expect(tables.reduce(0) { $0 + $1.count } == 20)
        #expect(total == 0)
        #expect(count == 0)
        for number in 0..<30 { _ = store.insert(number, cost: 1, forKey: StoreKey("\(number)")) }
        #expect(valuesByAge(in: store) == Array(10..<30))
    }

    @Test func threadsNeverSeeALimitExceededAndEachValueLeavesOnce() {
        let store = ShardedStore<Int>(costLimit: 60, countLimit: 25)
        let left = Locked<[Int]>([])
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            var random = SeededGenerator(state: UInt64(thread))
            var leaving: [Int] = []
            var mostCost = 0
            var mostValues = 0
            for step in 0..<3000 {
                let key = StoreKey("\(Int.random(in: 0..<50, using: &random))")
                if step % 3 > 0 {
                    _ = store.use(key) { $0 }
                } else if step % 10 == 9 {
                    if let removed = store.removeValue(forKey: key) { leaving.append(removed) }
                } else {
                    let cost = Int.random(in: 0..<8, using: &random)
                    leaving += store.insert(3000 * thread + step, cost: cost, forKey: key)
                }
                mostCost = max(mostCost, store.budget.totalCost)
                mostValues = max(mostValues, store.budget.count)
            }
            #expect(mostCost <= 60)
            #expect(mostValues <= 25)
            left.withLock { [leaving] in $0 += leaving }
        }
        let (total, count) = (store.budget.totalCost, store.budget.count)
        let remaining = store.removeAll(where: { _, _ in true })
        #expect(remaining.count == count)
        #expect(remaining.reduce(0) { $0 + $1.entry.cost } == total)
        let inserted = (0..<4).flatMap { thread in
            (0..<3000).filter { $0 % 3 == 0 && $0 % 10 != 9 }.map { 3000 * thread + $0 }
        }
        let all = left.withLock { $0 } + remaining.map(\.entry.value)
        #expect(all.sorted() == inserted)
    }

    @Test func aValueIsFoundAtEachMomentWhileItIsReplaced() {
        let store = ShardedStore<Int>(costLimit: 20)
        let key = StoreKey("key")
        _ = store.insert(0, cost: 1, forKey: key)
        let isDone = Locked(false)
        let misses = Locked(0)
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            if thread == 0 {
                for step in 1...3000 {
                    // The store is full, so that others have to leave when the value grows.
                    _ = store.insert(step, cost: 3, forKey: StoreKey("\(step % 11)"))
                    _ = store.insert(step, cost: step % 7, forKey: key)
                }
                isDone.withLock { $0 = true }
            } else {
                while !isDone.withLock({ $0 }) {
                    let value = thread == 1 ? store.peek(key) { $0 } : store.use(key) { $0 }
                    if value == nil { misses.withLock { $0 += 1 } }
                }
            }
        }
        #expect(misses.withLock { $0 } == 0)
        let value = store.peek(key) { $0 }
        #expect(value == 3000)
    }

    /// The values, the one used longest ago first, which leave the store.
    private func valuesByAge(in store: borrowing ShardedStore<Int>) -> [Int] {
        var values: [Int] = []
        while store.budget.count > 0 {
            values += store.setLimits(cost: nil, count: store.budget.count - 1)
        }
        return values
    }
}

/// A store of values within limits of cost and count, written down in the simplest way.
struct CostBoundedModel {
    /// The most recent one first.
    var entries: [(key: String, value: Int, cost: Int)] = []
    var costLimit: Int?
    var countLimit: Int?

    var total: Int { entries.reduce(0) { $0 + $1.cost } }

    mutating func insert(_ value: Int, cost: Int, key: String) {
        entries.removeAll { $0.key == key }
        if cost > costLimit ?? .max { return }
        entries.insert((key, value, cost), at: 0)
        evict()
    }

    mutating func use(_ key: String) -> Int? {
        guard let index = entries.firstIndex(where: { $0.key == key }) else { return nil }
        let entry = entries.remove(at: index)
        entries.insert(entry, at: 0)
        return entry.value
    }

    mutating func evict() {
        while total > costLimit ?? .max || entries.count > countLimit ?? .max {
            entries.removeLast()
        }
    }
}

@Suite struct EvictionOrderTests {
    private func candidates(_ uses: [UInt64]) -> [EvictionOrder.Candidate] {
        uses.enumerated().map {
            EvictionOrder.Candidate(shard: UInt32($0 % 3), slot: UInt32($0), lastUse: $1)
        }
    }

    private func uses(of list: EvictionOrder) -> [UInt64] {
        var list = list
        var uses: [UInt64] = []
        while let next = list.next() { uses.append(next.lastUse) }
        return uses
    }

    @Test func whatWasUsedSinceTheListingBeganIsLeftOut() {
        let list = EvictionOrder(candidates([5, 1, 9, 3]), at: 5)
        #expect(uses(of: list) == [1, 3])
    }

    @Test func whatWasUsedSinceIsListedWhenThereIsNothingElse() {
        let list = EvictionOrder(candidates([7, 6]), at: 5)
        #expect(uses(of: list) == [6, 7])
    }
}
