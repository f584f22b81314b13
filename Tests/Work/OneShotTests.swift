import HalcyonTestKit
import HalcyonWork
import Testing

struct OneShotTests {
    @Test func theFirstValueCounts() async {
        let place = OneShot<Int>()
        #expect(place.give(1))
        #expect(!place.give(2))
        #expect(await place.value == 1)
        #expect(!place.give(3))
    }

    @Test func aValueThatComesLaterIsWaitedFor() async {
        let place = OneShot<Int>()
        let waiting = Task { await place.value }
        await Task.yield()
        #expect(place.give(5))
        #expect(await waiting.value == 5)
    }

    @Test func whatIsToFollowFollowsOnce() {
        let place = OneShot<Int>()
        let events = Recorder<String>()
        place.whenGiven { _ in events.record("early") }
        #expect(events.count == 0)
        place.give(1)
        place.give(2)
        place.whenGiven { _ in events.record("late") }
        #expect(events.events == ["early", "late"])
    }

    @Test func ofManyWhoGiveOneIsFirst() async {
        for _ in 0..<200 {
            let place = OneShot<Int>()
            async let value = place.value
            let firsts = await withTaskGroup(of: Int.self) { group in
                for giver in 0..<8 {
                    group.addTask { place.give(giver) ? giver : -1 }
                }
                return await group.reduce(into: [Int]()) { if $1 >= 0 { $0.append($1) } }
            }
            #expect(await [value] == firsts)
        }
    }
}
