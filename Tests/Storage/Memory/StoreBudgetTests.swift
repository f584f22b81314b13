import Testing

@testable import HalcyonStorage

@Suite struct StoreBudgetTests {
    @Test func roomIsTakenUntilItIsGivenBack() {
        var budget = StoreBudget(costLimit: 10)
        let answers = [budget.reserve(6), budget.reserve(5), budget.reserve(4)]
        #expect(answers == [.reserved, .full, .reserved])
        budget.release(6)
        let answer = budget.reserve(5)
        #expect(answer == .reserved)
        #expect(budget.totalCost == 9)
        #expect(budget.count == 2)
    }

    @Test func aReplacementNeedsRoomForTheDifferenceOnly() {
        var budget = StoreBudget(costLimit: 10, countLimit: 1)
        let answers = [
            budget.reserve(6), budget.reserve(10, inPlaceOf: 6), budget.reserve(0),
            budget.reserve(2, inPlaceOf: 10),
        ]
        #expect(answers == [.reserved, .reserved, .full, .reserved])
        #expect(budget.totalCost == 2)
        #expect(budget.count == 1)
    }

    @Test func whatNeverFitsIsTooCostly() {
        var budget = StoreBudget(costLimit: 10)
        let tooMuch = budget.reserve(11)
        #expect(tooMuch == .tooCostly)
        budget.countLimit = 0
        let tooMany = budget.reserve(0)
        #expect(tooMany == .tooCostly)
        #expect(budget.count == 0)
    }

    @Test func sumsThatAreNoNumbersDoNotFit() {
        var budget = StoreBudget()
        let answers = [budget.reserve(.max), budget.reserve(1), budget.reserve(0)]
        #expect(answers == [.reserved, .full, .reserved])
    }

    @Test func lowerLimitsAreExceeded() {
        var budget = StoreBudget()
        let answer = budget.reserve(4)
        #expect(answer == .reserved)
        #expect(!budget.isExceeded)
        budget.costLimit = 3
        #expect(budget.isExceeded)
        budget.release(4)
        #expect(!budget.isExceeded)
    }
}
