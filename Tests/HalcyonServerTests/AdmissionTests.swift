import Testing

@testable import HalcyonServer

/// An admission that can be asked within an expectation.
private final class Line {
    var admission: Admission

    init(width: Int, widthOfGroup: Int? = nil, queue: Int) {
        admission = Admission(width: width, widthOfGroup: widthOfGroup, queue: queue)
    }

    func enter(_ id: Int, group: String) -> Admission.Entry { admission.enter(id, group: group) }
    func leave(group: String) -> Int? { admission.leave(group: group) }
    func abandon(_ id: Int) -> Bool { admission.abandon(id) }
    var passingCount: Int { admission.passingCount }
    var waitingCount: Int { admission.waitingCount }
}

/// Who passes a gate, and who waits.
@Suite struct AdmissionTests {
    @Test func whoCameFirstGoesFirst() {
        let admission = Line(width: 1, queue: 3)
        #expect(
            (1...5).map { admission.enter($0, group: "") } == [.pass, .wait, .wait, .wait, .full])
        #expect(admission.leave(group: "") == 2)
        #expect(admission.abandon(3))
        #expect(!admission.abandon(3))
        #expect(admission.leave(group: "") == 4)
        #expect(admission.leave(group: "") == nil)
        #expect(admission.passingCount == 0)
    }

    @Test func nobodyWaitsForAGroupThatHasAllItsPlaces() {
        let admission = Line(width: 3, widthOfGroup: 1, queue: 4)
        #expect(admission.enter(1, group: "slow") == .pass)
        #expect(admission.enter(2, group: "slow") == .wait)
        #expect(admission.enter(3, group: "other") == .pass)
        #expect(admission.enter(4, group: "third") == .pass)
        #expect(admission.enter(5, group: "fourth") == .wait)
        #expect(admission.leave(group: "other") == 5)
        #expect(admission.leave(group: "slow") == 2)
    }

    @Test func oneGroupHasHalfOfTheLine() {
        let admission = Line(width: 2, widthOfGroup: 1, queue: 4)
        #expect(admission.enter(1, group: "slow") == .pass)
        #expect((2...4).map { admission.enter($0, group: "slow") } == [.wait, .wait, .full])
        #expect(admission.enter(5, group: "other") == .pass)
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
