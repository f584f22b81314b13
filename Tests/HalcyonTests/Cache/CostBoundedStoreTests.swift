import HalcyonTestKit
import Testing

@testable import Halcyon

@Suite struct CostBoundedStoreTests {
    @Test(arguments: 0..<20 as Range<UInt64>) func behavesLikeTheModel(seed: UInt64) {
        var random = SeededGenerator(state: seed)
        var model = CostBoundedModel()
        var store = CostBoundedStore<Int>()
        for step in 0..<2000 {
            let key = "\(Int.random(in: 0..<40, using: &random))"
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<9:
                let cost = Int.random(in: 0..<30, using: &random)
                let before = store.count + 1
                let leaving = store.insert(step, cost: cost, forKey: StoreKey(key))
                model.insert(step, cost: cost, key: key)
                #expect(store.count == before - leaving.count)
            case 9..<15:
                #expect(store.use(StoreKey(key)) { $0 } == model.use(key))
            case 15..<18:
                let removed = store.removeValue(forKey: StoreKey(key))
                #expect(removed == model.entries.first { $0.key == key }?.value)
                model.entries.removeAll { $0.key == key }
            case 18:
                let odd = store.removeAll { $0 % 7 == 1 }
                #expect(Set(odd) == Set(model.entries.map(\.value).filter { $0 % 7 == 1 }))
                model.entries.removeAll { $0.value % 7 == 1 }
            default:
                let cost =
                    Bool.random(using: &random) ? Int.random(in: 0..<200, using: &random) : nil
                let count =
                    Bool.random(using: &random) ? Int.random(in: 0..<20, using: &random) : nil
                _ = store.setLimits(cost: cost, count: count)
                (model.costLimit, model.countLimit) = (cost, count)
                model.evict()
            }
            #expect(store.keysByRecency == model.entries.map(\.key))
            #expect(store.totalCost == model.total)
            #expect(store.count == model.entries.count)
        }
    }

    @Test func theOneUsedLongestAgoGoesFirst() {
        var store = CostBoundedStore<Int>(countLimit: 2)
        _ = store.insert(1, cost: 1, forKey: StoreKey("a"))
        _ = store.insert(2, cost: 1, forKey: StoreKey("b"))
        _ = store.use(StoreKey("a")) { _ in }
        #expect(store.insert(3, cost: 1, forKey: StoreKey("c")) == [2])
        #expect(store.keysByRecency == ["c", "a"])
    }

    @Test func aValueAboveTheLimitIsNotKeptAndCostsNoOther() {
        var store = CostBoundedStore<Int>(costLimit: 10)
        _ = store.insert(1, cost: 6, forKey: StoreKey("a"))
        #expect(store.insert(2, cost: 11, forKey: StoreKey("b")) == [2])
        #expect(store.keysByRecency == ["a"])
    }

    @Test func peekingIsNoUse() {
        var store = CostBoundedStore<Int>()
        _ = store.insert(1, cost: 1, forKey: StoreKey("a"))
        _ = store.insert(2, cost: 1, forKey: StoreKey("b"))
        #expect(store.peek(StoreKey("a")) == 1)
        #expect(store.keysByRecency == ["b", "a"])
    }
}
