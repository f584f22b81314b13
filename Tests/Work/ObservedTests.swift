import HalcyonTestKit
import HalcyonWork
import Testing

@Suite struct ObservedTests {
    private let number = Observed(0)

    @Test func aWaitEndsWithTheValueThatItIsFor() async {
        async let reached = number.wait { $0 >= 2 }
        for _ in 0..<3 { number.update { $0 += 1 } }
        #expect(await reached ?? 0 >= 2)
        #expect(number.update { $0 } == 3)
        #expect(await number.wait { $0 == 3 } == 3)
    }

    @Test func allThatWaitAreWoken() async {
        await withTaskGroup(of: Int?.self) { group in
            for wanted in 1...20 { group.addTask { await number.wait { $0 >= wanted } } }
            for _ in 0..<20 { number.update { $0 += 1 } }
            for await reached in group { #expect(reached != nil) }
        }
    }

    @Test func aCancelledWaitEndsAndTheOthersGoOn() async {
        let other = Task { await number.wait { $0 == 1 } }
        let cancelled = Task { await number.wait { $0 == -1 } }
        cancelled.cancel()
        #expect(await cancelled.value == nil)
        number.update { $0 = 1 }
        #expect(await other.value == 1)
    }
}
