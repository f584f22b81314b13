import Testing

@testable import HalcyonStorage

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
