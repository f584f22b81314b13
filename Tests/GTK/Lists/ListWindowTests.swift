import Testing

@testable import HalcyonGTK

@Suite struct ListWindowTests {
    private var window = ListWindow(lookahead: 8)

    @Test mutating func whatFollowsComesFirstAndAQuarterOfItLiesBehind() {
        window.move(to: 0..<5)
        window.move(to: 10..<15)
        #expect(window.upcoming(of: 100) == [15, 16, 17, 18, 19, 20, 21, 22, 9, 8])
    }

    @Test mutating func theOtherDirectionIsFollowed() {
        window.move(to: 50..<55)
        window.move(to: 40..<45)
        #expect(window.upcoming(of: 100) == [39, 38, 37, 36, 35, 34, 33, 32, 45, 46])
    }

    @Test mutating func nothingOutsideTheListIsWanted() {
        window.move(to: 0..<4)
        #expect(window.upcoming(of: 6) == [4, 5] && window.upcoming(of: 4) == [])
        #expect(window.upcoming(of: 0) == [])
    }

    @Test mutating func aListOfWhichNothingIsSeenWantsNothing() {
        #expect(window.upcoming(of: 10) == [])
        window.move(to: 3..<3)
        #expect(window.upcoming(of: 10) == [])
    }

    @Test mutating func withoutLookaheadNothingIsWanted() {
        var window = ListWindow(lookahead: -1)
        window.move(to: 2..<4)
        #expect(window.upcoming(of: 10) == [])
    }

    @Test mutating func aListThatStandsStillKeepsItsDirection() {
        window.move(to: 50..<55)
        window.move(to: 40..<45)
        window.move(to: 40..<46)
        #expect(window.upcoming(of: 100).first == 39)
    }
}
