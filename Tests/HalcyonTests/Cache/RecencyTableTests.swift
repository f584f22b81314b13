import Testing

@testable import Halcyon

@Suite struct RecencyTableTests {
    @Test func keysOfOneBucketDoNotDisturbEachOther() throws {
        var table = RecencyTable<Int>()
        let keys = (0..<500).map { StoreKey("key \($0)") }
        for (number, key) in keys.enumerated() { table.insert(number, forKey: key) }
        // Every third one goes, from the middle of lists as well as from their ends.
        for number in stride(from: 0, to: 500, by: 3) {
            let slot = try #require(table.slot(of: keys[number]))
            let removed = table.remove(slot)
            #expect(removed == number)
        }
        for number in 0..<500 {
            let value = table.slot(of: keys[number]).map { table.value(of: $0) }
            #expect(value == (number.isMultiple(of: 3) ? nil : number))
        }
        #expect(table.count == 333)
    }

    @Test func slotsAreUsedAgain() throws {
        var table = RecencyTable<Int>()
        var slots: Set<Int> = []
        for number in 0..<1000 {
            let key = StoreKey("\(number)")
            table.insert(number, forKey: key)
            let slot = try #require(table.slot(of: key))
            slots.insert(slot)
            let removed = table.remove(slot)
            #expect(removed == number)
        }
        #expect(slots == [0])
    }

    @Test func removedValuesAreReleased() {
        final class Token {}
        var table = RecencyTable<Token>()
        weak var released: Token?
        do {
            let token = Token()
            released = token
            table.insert(token, forKey: StoreKey("a"))
        }
        #expect(released != nil)
        if let slot = table.leastRecent { _ = table.remove(slot) }
        #expect(released == nil)
        #expect(table.count == 0)
    }

    @Test func aKeyIsFoundByItsTextHoweverItWasMade() {
        let text = "https://example.com/\u{E9}.jpg"
        let other = String(decoding: Array(text.utf8), as: UTF8.self)
        #expect(StoreKey(text).hash == StoreKey(other).hash)
        #expect(StoreKey("a").hash != StoreKey("b").hash)
        #expect(StoreKey("").hash == StoreKey(String()).hash)
    }
}
