import Testing

@testable import Halcyon

struct ProgressiveScheduleTests {
    private typealias Schedule = ProgressiveSchedule<String>

    private var schedule = Schedule()

    private func fast(_ viewer: String, every interval: Duration = .zero) -> Schedule.Wish {
        Schedule.Wish(viewer: viewer, everyScan: false, interval: interval)
    }

    private func patient(_ viewer: String, every interval: Duration = .zero) -> Schedule.Wish {
        Schedule.Wish(viewer: viewer, everyScan: true, interval: interval)
    }

    /// Whether `step` follows for these wishes when so many scans are complete and decoded, after so many
    /// seconds.
    private func expect(
        _ step: Schedule.Step, for wishes: [Schedule.Wish], complete: Int, decoded: Int,
        after seconds: Int = 0, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let found = schedule.step(
            for: wishes, complete: complete, decoded: decoded, at: .seconds(seconds))
        #expect(found == step, sourceLocation: sourceLocation)
    }

    @Test mutating func doesNothingWithoutANewScan() {
        expect(.nothing, for: [fast("a")], complete: 0, decoded: 0)
        expect(.nothing, for: [], complete: 3, decoded: 0)
        schedule.note(3, shownTo: "a", at: .zero)
        for wish in [fast("a"), patient("a")] {
            expect(.nothing, for: [wish], complete: 3, decoded: 3)
        }
    }

    @Test mutating func showsTheLatestScanOrEachOne() {
        expect(.show(scan: 4, to: ["a"]), for: [fast("a")], complete: 4, decoded: 0)
        for scan in 1...4 {
            expect(
                .show(scan: scan, to: ["b"]), for: [patient("b")], complete: 4, decoded: scan - 1)
            schedule.note(scan, shownTo: "b", at: .zero)
        }
    }

    @Test mutating func waitsForTheInterval() {
        let wish = fast("a", every: .seconds(5))
        schedule.note(1, shownTo: "a", at: .seconds(10))
        expect(.wait(.seconds(3)), for: [wish], complete: 3, decoded: 1, after: 12)
        expect(.show(scan: 4, to: ["a"]), for: [wish], complete: 4, decoded: 1, after: 15)
    }

    @Test mutating func showsWhoIsDueAndTheOthersLater() {
        let wishes = [fast("a", every: .seconds(5)), fast("b")]
        schedule.note(1, shownTo: "a", at: .zero)
        schedule.note(1, shownTo: "b", at: .zero)
        expect(.show(scan: 2, to: ["b"]), for: wishes, complete: 2, decoded: 1, after: 1)
        schedule.note(2, shownTo: "b", at: .seconds(1))
        expect(.wait(.seconds(4)), for: wishes, complete: 2, decoded: 2, after: 1)
        expect(.show(scan: 2, to: ["a"]), for: wishes, complete: 2, decoded: 2, after: 5)
    }

    @Test mutating func goesNoFurtherThanWhoWantsEachScan() {
        let wishes = [patient("a", every: .seconds(5)), fast("b")]
        expect(.show(scan: 1, to: ["a", "b"]), for: wishes, complete: 3, decoded: 0)
        schedule.note(1, shownTo: "a", at: .zero)
        schedule.note(1, shownTo: "b", at: .zero)
        expect(.wait(.seconds(3)), for: wishes, complete: 3, decoded: 1, after: 2)
    }

    @Test mutating func showsALateViewerWhatIsDecoded() {
        schedule.note(3, shownTo: "a", at: .zero)
        for wish in [fast("b"), patient("b")] {
            expect(.show(scan: 3, to: ["b"]), for: [patient("a"), wish], complete: 3, decoded: 3)
        }
    }
}
