import Testing

@testable import HalcyonCLI

struct ResultSequencerTests {
    @Test func holdsResultsBackUntilTheirTurn() {
        var sequencer = ResultSequencer<String>()
        #expect(sequencer.finish(2, with: "c") == [])
        #expect(sequencer.finish(0, with: "a") == ["a"])
        #expect(sequencer.finish(1, with: "b") == ["b", "c"])
        #expect(sequencer.finish(3, with: "d") == ["d"])
    }
}
