import Testing

@testable import HalcyonServer

/// An admission that can be asked within an expectation.
private final class Line {
    var admission: Admission

    init(width: Int, widthOfGroup: Int? = nil, queue: Int) {
        admission = Admission(width: width, widthOfGroup: widthOfGroup, queue: queue)
    }

    func enter(
        _ id: Int, group: String, deadline: ContinuousClock.Instant? = nil
    ) -> Admission.Entry {
        admission.enter(id, group: group, deadline: deadline)
    }
    /// What comes of entries, each with its group, numbered from a number on.
    func enter(_ groups: [String], from first: Int = 1) -> [Admission.Entry] {
        groups.enumerated().map { enter(first + $0, group: $1) }
    }
    func leave(group: String) -> Int? { admission.leave(group: group) }
    func abandon(_ id: Int) -> Bool { admission.abandon(id) }
    var passingCount: Int { admission.passingCount }
    var waitingCount: Int { admission.waitingCount }
}

/// Who passes a gate, and who waits.
@Suite struct AdmissionTests {
    @Test func whoCameFirstGoesFirst() {
        let admission = Line(width: 1, queue: 3)
        #expect(admission.enter(["", "", "", "", ""]) == [.pass, .wait, .wait, .wait, .full])
        #expect(admission.leave(group: "") == 2)
        #expect(admission.abandon(3))
        #expect(!admission.abandon(3) && admission.leave(group: "") == 4)
        #expect(admission.leave(group: "") == nil && admission.passingCount == 0)
    }

    @Test func whoHasLessTimeGoesBeforeWhoCameFirst() {
        let admission = Line(width: 1, queue: 9)
        let now = ContinuousClock.now
        let seconds: [Int?] = [9, 5, nil, 7, 5, 3]
        for (id, seconds) in seconds.enumerated() {
            let deadline = seconds.map { now + .seconds($0) }
            #expect(admission.enter(id, group: "", deadline: deadline) == (id == 0 ? .pass : .wait))
        }
        // Of two with the same time the first, and at last who says nothing of time.
        #expect((0..<5).map { _ in admission.leave(group: "") } == [5, 1, 4, 3, 2])
    }

    @Test func timeCountsAmongGroupsThatHoldTheSame() {
        let admission = Line(width: 3, widthOfGroup: 2, queue: 9)
        let now = ContinuousClock.now
        #expect(admission.enter(["a", "a", "b"]) == [.pass, .pass, .pass])
        #expect(admission.enter(4, group: "a", deadline: now) == .wait)
        #expect(admission.enter(5, group: "c", deadline: now + .seconds(2)) == .wait)
        #expect(admission.enter(6, group: "d", deadline: now + .seconds(1)) == .wait)
        #expect(admission.leave(group: "b") == 6 && admission.leave(group: "d") == 5)
    }

    @Test func restBeginsOnceAfterEachTimeOfWork() {
        var watch = RestWatch()
        let looks = [
            (0, 0), (3, 1), (3, 0), (3, 0), (3, 0), (5, 0), (5, 1), (5, 0), (6, 0), (6, 0),
        ]
        let begun = looks.map { entered, passing in
            watch.restHasBegun(Gate.Usage(passing: passing, waiting: 0, limit: 2, entered: entered))
        }
        #expect(begun == [false, false, true, false, false, false, false, true, false, true])
    }

    @Test func nobodyWaitsForAGroupThatHasAllItsPlaces() {
        let admission = Line(width: 3, widthOfGroup: 1, queue: 4)
        #expect(
            admission.enter(["slow", "slow", "other", "third", "fourth"])
                == [.pass, .wait, .pass, .pass, .wait])
        #expect(admission.leave(group: "other") == 5 && admission.leave(group: "slow") == 2)
    }

    @Test func oneGroupLeavesRoomForOthersHoweverMuchItMayHave() {
        let admission = Line(width: 16, widthOfGroup: 16, queue: 40)
        let slow = (1...30).map { admission.enter($0, group: "slow") }
        #expect(slow.count { $0 == .pass } == 12)
        let others = Array(repeating: "second", count: 4) + ["third"]
        #expect(admission.enter(others, from: 31) == [.pass, .pass, .pass, .wait, .pass])
    }

    @Test func itIsTheTurnOfTheGroupThatHoldsLeast() {
        let admission = Line(width: 4, widthOfGroup: 4, queue: 20)
        for id in 1...8 { _ = admission.enter(id, group: "slow") }
        #expect(admission.enter(["other", "other"], from: 11) == [.pass, .wait])
        #expect(admission.leave(group: "slow") == 12)
        #expect(admission.leave(group: "other") == 4)
    }

    @Test func alsoASmallGateIsUsedByWhoIsAlone() {
        let admission = Line(width: 1, widthOfGroup: 16, queue: 2)
        #expect(admission.enter(["only", "only"]) == [.pass, .wait])
        #expect(admission.leave(group: "only") == 2)
    }

    @Test func oneGroupHasHalfOfTheLine() {
        let admission = Line(width: 2, widthOfGroup: 1, queue: 4)
        #expect(
            admission.enter(["slow", "slow", "slow", "slow", "other"])
                == [.pass, .wait, .wait, .full, .pass])
    }

    @Test func whateverHappensNoMorePassThanMay() {
        var generator = SystemRandomNumberGenerator()
        let admission = Line(width: 4, widthOfGroup: 2, queue: 6)
        var passing: [(id: Int, group: String)] = []
        var waiting: [(id: Int, group: String)] = []
        for id in 0..<5000 {
            let group = ["a", "b", "c"].randomElement(using: &generator) ?? "a"
            switch Int.random(in: 0..<5, using: &generator) {
            case 0...2:
                switch admission.enter(id, group: group) {
                case .pass: passing.append((id, group))
                case .wait: waiting.append((id, group))
                case .full: #expect(waiting.count >= 3)
                }
            case 3:
                guard !passing.isEmpty else { continue }
                let leaving = passing.removeFirst()
                if let next = admission.leave(group: leaving.group),
                    let index = waiting.firstIndex(where: { $0.id == next })
                {
                    passing.append(waiting.remove(at: index))
                }
            default:
                guard let one = waiting.popLast() else { continue }
                #expect(admission.abandon(one.id))
            }
            #expect(admission.passingCount == passing.count)
            #expect(admission.waitingCount == waiting.count)
            #expect(passing.count <= 4)
            #expect(Dictionary(grouping: passing, by: \.group).values.allSatisfy { $0.count <= 2 })
        }
    }
}
