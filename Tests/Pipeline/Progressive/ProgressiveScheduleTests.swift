import Testing

@testable import Halcyon

struct ProgressiveScheduleTests {
    private typealias Schedule = ProgressiveSchedule<String>

    private func fast(_ viewer: String, every interval: Duration = .zero) -> Schedule.Wish {
        Schedule.Wish(viewer: viewer, everyScan: false, interval: interval)
    }

    private func patient(_ viewer: String, every interval: Duration = .zero) -> Schedule.Wish {
        Schedule.Wish(viewer: viewer, everyScan: true, interval: interval)
    }

    @Test func doesNothingWithoutANewScan() {
        var schedule = Schedule()
        #expect(schedule.step(for: [fast("a")], complete: 0, decoded: 0, at: .zero) == .nothing)
        #expect(schedule.step(for: [], complete: 3, decoded: 0, at: .zero) == .nothing)
        schedule.note(3, shownTo: "a", at: .zero)
        for wish in [fast("a"), patient("a")] {
            #expect(schedule.step(for: [wish], complete: 3, decoded: 3, at: .zero) == .nothing)
        }
    }

    @Test func showsTheLatestScanOrEachOne() {
        var schedule = Schedule()
        #expect(
            schedule.step(for: [fast("a")], complete: 4, decoded: 0, at: .zero)
                == .show(scan: 4, to: ["a"]))
        for scan in 1...4 {
            #expect(
                schedule.step(for: [patient("b")], complete: 4, decoded: scan - 1, at: .zero)
                    == .show(scan: scan, to: ["b"]))
            schedule.note(scan, shownTo: "b", at: .zero)
        }
    }

    @Test func waitsForTheInterval() {
        var schedule = Schedule()
        let wish = fast("a", every: .seconds(5))
        schedule.note(1, shownTo: "a", at: .seconds(10))
        #expect(
            schedule.step(for: [wish], complete: 3, decoded: 1, at: .seconds(12))
                == .wait(.seconds(3)))
        #expect(
            schedule.step(for: [wish], complete: 4, decoded: 1, at: .seconds(15))
                == .show(scan: 4, to: ["a"]))
    }

    @Test func showsWhoIsDueAndTheOthersLater() {
        var schedule = Schedule()
        let wishes = [fast("a", every: .seconds(5)), fast("b")]
        schedule.note(1, shownTo: "a", at: .zero)
        schedule.note(1, shownTo: "b", at: .zero)
        #expect(
            schedule.step(for: wishes, complete: 2, decoded: 1, at: .seconds(1))
                == .show(scan: 2, to: ["b"]))
        schedule.note(2, shownTo: "b", at: .seconds(1))
        #expect(
            schedule.step(for: wishes, complete: 2, decoded: 2, at: .seconds(1))
                == .wait(.seconds(4)))
        #expect(
            schedule.step(for: wishes, complete: 2, decoded: 2, at: .seconds(5))
                == .show(scan: 2, to: ["a"]))
    }

    @Test func goesNoFurtherThanWhoWantsEachScan() {
        var schedule = Schedule()
        let wishes = [patient("a", every: .seconds(5)), fast("b")]
        #expect(
            schedule.step(for: wishes, complete: 3, decoded: 0, at: .zero)
                == .show(scan: 1, to: ["a", "b"]))
        schedule.note(1, shownTo: "a", at: .zero)
        schedule.note(1, shownTo: "b", at: .zero)
        #expect(
            schedule.step(for: wishes, complete: 3, decoded: 1, at: .seconds(2))
                == .wait(.seconds(3)))
    }

    @Test func showsALateViewerWhatIsDecoded() {
        var schedule = Schedule()
        schedule.note(3, shownTo: "a", at: .zero)
        for wish in [fast("b"), patient("b")] {
            #expect(
                schedule.step(for: [patient("a"), wish], complete: 3, decoded: 3, at: .zero)
                    == .show(scan: 3, to: ["b"]))
        }
    }
}
