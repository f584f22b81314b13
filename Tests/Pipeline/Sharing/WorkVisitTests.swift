import HalcyonTestKit
import Halcyon
import Testing

/// How long results are kept, and for whom.
struct WorkVisitTests {
    private typealias Ledger = WorkLedger<String, String, Int, String, Int>

    /// Somebody who visits does the work for `key`.
    private func work(
        _ result: Int, _ key: String, _ visit: Ledger.Retention?, _ ledger: inout Ledger
    ) {
        let join = ledger.join("worker", for: key, during: visit, makeJob: { $0 })
        _ = ledger.finish(join.ticket.work, keeping: result)
    }

    /// What `visit` is given for `key`; leaves no place behind.
    private func result(_ key: String, _ visit: Ledger.Retention, _ ledger: inout Ledger) -> Int? {
        let join = ledger.join("asker", for: key, during: visit, makeJob: { $0 })
        if case .done(let result) = join { return result }
        _ = ledger.leave(join.ticket)
        return nil
    }

    @Test(arguments: [true, false])
    func whoCameBeforeTheEndOrWhileTheFirstAreThereIsServedHoweverLate(beforeTheEnd: Bool) {
        var ledger = Ledger()
        let first = ledger.retain("group")
        let early = beforeTheEnd ? ledger.retain("group") : nil
        work(1, "a", first, &ledger)
        let second = early ?? ledger.retain("group")
        ledger.release(first)
        #expect(result("a", second, &ledger) == 1)
        #expect(result("b", second, &ledger) == nil)
        ledger.release(second)
        #expect(ledger.isIdle)
    }

    @Test func whoComesLaterStartsAnewThoughTheGroupIsNeverWithoutVisitors() {
        var ledger = Ledger()
        var latest = ledger.retain("group")
        work(1, "a", latest, &ledger)
        for round in 0..<3 {
            let next = ledger.retain("group")
            ledger.release(latest)
            latest = next
            #expect((result("a", latest, &ledger) == 1) == (round == 0))
        }
        ledger.release(latest)
        #expect(ledger.isIdle)
    }

    @Test func visitorsOfAnotherGroupKeepNothing() {
        var ledger = Ledger()
        let first = ledger.retain("group")
        let other = ledger.retain("other")
        work(1, "a", first, &ledger)
        ledger.release(first)
        #expect(result("a", other, &ledger) == nil)
        ledger.release(other)
        #expect(ledger.isIdle)
    }

    @Test func aResultIsKeptInEachGroupItsCallersVisit() {
        var ledger = Ledger()
        let first = ledger.retain("one")
        let second = ledger.retain("two")
        let join = ledger.join("a", for: "k", during: first, makeJob: { $0 })
        _ = ledger.join("b", for: "k", during: second, makeJob: { $0 })
        _ = ledger.finish(join.ticket.work, keeping: 7)
        #expect(result("k", first, &ledger) == 7)
        #expect(result("k", second, &ledger) == 7)
        ledger.release(first)
        ledger.release(second)
        #expect(ledger.isIdle)
    }

    /// A request visits, looks into a cache, and then shares or does the work; who has the result puts
    /// it into the cache before the visit ends.
    @Test(arguments: 0..<300)
    func underAnyScheduleNothingIsDoneTwice(seed: Int) {
        enum Stage { case new, visiting, missed, waiting, served, done }
        struct Request {
            var stage = Stage.new
            var visit: Ledger.Retention?
        }
        var random = SeededGenerator(state: UInt64(seed) + 1)
        var ledger = Ledger()
        var requests = [Request](repeating: Request(), count: 12)
        var isCached = false
        var running: Int?
        var works = 0
        while let index = requests.indices.filter({ requests[$0].stage != .done }).randomElement(
            using: &random)
        {
            var request = requests[index]
            func finish() {
                if let visit = request.visit { ledger.release(visit) }
                request.stage = .done
            }
            switch request.stage {
            case .new:
                request.visit = ledger.retain("group")
                request.stage = .visiting
            case .visiting:
                if isCached { finish() } else { request.stage = .missed }
            case .missed:
                let join = ledger.join("\(index)", for: "a", during: request.visit) { $0 }
                switch join {
                case .done: request.stage = .served
                case .share: request.stage = .waiting
                case .start(_, let ticket):
                    works += 1
                    running = ticket.work
                    request.stage = .waiting
                }
            case .waiting:
                guard let work = running else { break }
                running = nil
                for caller in ledger.finish(work, keeping: 1) {
                    requests[Int(caller) ?? 0].stage = .served
                }
                request.stage = .served
            case .served:
                isCached = true
                finish()
            case .done: break
            }
            requests[index] = request
        }
        #expect(works == 1 && ledger.isIdle)
    }
}
