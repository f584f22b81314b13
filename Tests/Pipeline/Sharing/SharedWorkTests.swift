import HalcyonTestKit
import Halcyon
import Testing

struct SharedWorkTests {
    @Test func duringAVisitItRunsOnceAndAnewAfterwards() async {
        let table = SharedWork<String, Int>()
        let visit = table.retain("key")
        #expect(await table.result(for: "key", during: visit) { _ in 1 } == 1)
        #expect(await table.result(for: "key", during: visit) { _ in 2 } == 1)
        table.release(visit)
        #expect(table.isIdle)
        for value in [3, 4] { #expect(await table.result(for: "key") { _ in value } == value) }
    }

    @Test func whoLeavesIsNotServedAndTheOthersAre() throws {
        let table = SharedWork<String, Int>()
        let served = Recorder<String>()
        let end = Locked<(@Sendable (Int) -> Void)?>(nil)
        let first = try #require(
            table.ask(for: "key", completion: { _ in served.record("first") }) { _, finish in
                end.set(finish)
            })
        table.ask(for: "key", completion: { _ in served.record("second") }) { _, _ in
            Issue.record("the second caller must share the work")
        }
        #expect(table.leave(first) != nil && table.leave(first) == nil)
        end.value?(1)
        end.value?(2)
        #expect(served.events == ["second"])
    }

    @Test func theLastWhoLeavesStopsTheWork() throws {
        let table = SharedWork<String, Int>()
        let stops = Recorder<String>()
        let job = Locked<SteppedWork?>(nil)
        func ask() -> SharedWork<String, Int>.Ticket? {
            table.ask(for: "key", completion: { _ in Issue.record("served") }) { work, _ in
                job.set(work)
                work.onStop { stops.record("stop") }
            }
        }
        let first = try #require(ask())
        let second = try #require(ask())
        let work = try #require(job.value)
        #expect(work.isWanted)
        table.leave(first)
        #expect(work.isWanted && stops.count == 0)
        table.leave(second)
        #expect(!work.isWanted && stops.events == ["stop"])
        work.onStop { stops.record("late") }
        #expect(stops.events == ["stop", "late"])
    }

    @Test func itIsWantedAsLongAsOneCallerHasNotLostInterest() throws {
        let table = SharedWork<String, Int>()
        let job = Locked<SteppedWork?>(nil)
        let interest = Locked(true)
        table.ask(for: "key", isWanted: { interest.value }, completion: { _ in }) { work, _ in
            job.set(work)
        }
        let work = try #require(job.value)
        #expect(work.isWanted)
        interest.set(false)
        #expect(!work.isWanted)
        table.ask(for: "key", completion: { _ in }) { _, _ in }
        #expect(work.isWanted)
    }

    /// Callers come, leave and are served at once, on many threads.
    @Test func everyCallerIsServedOnceOrHasLeft() async {
        let table = SharedWork<Int, Int>()
        let served = Recorder<Int>()
        let left = Recorder<Int>()
        await withTaskGroup(of: Void.self) { group in
            for caller in 0..<600 {
                group.addTask {
                    let ticket = table.ask(
                        for: caller % 3, completion: { _ in served.record(caller) }
                    ) { work, finish in
                        Task {
                            for _ in 0..<(caller % 7) where work.isWanted { await Task.yield() }
                            finish(caller)
                        }
                    }
                    if caller % 5 == 0 { await Task.yield() }
                    if caller % 2 == 0, let ticket, table.leave(ticket) != nil {
                        left.record(caller)
                    }
                }
            }
        }
        // All have asked; those who stayed are served when the work ends.
        await served.waitFor(count: 600 - left.count)
        #expect(served.count + left.count == 600)
        #expect(Set(served.events).isDisjoint(with: left.events))
        #expect(Set(served.events + left.events).count == 600 && table.isIdle)
    }
}

/// What a table does with the priorities that the ledger decides.
struct WorkPriorityTests {
    private final class Job: WorkJob {
        let priorities = Recorder<Float>()
        let changes = Recorder<UInt64>()
        let stops = Recorder<Void>()

        func stop() { stops.record(()) }

        func setPriority(_ priority: Float, change: UInt64) {
            priorities.record(priority)
            changes.record(change)
        }
    }

    @Test func theJobIsToldOfThePriorityOfTheMostUrgentCaller() throws {
        let table = WorkTable<String, String, Job, Int, Int>()
        let job = Job()
        let first = table.join(1, for: "key", priority: 0.2) { _ in job }.ticket
        let second = table.join(2, for: "key", priority: 0.7) { _ in job }.ticket
        #expect(job.priorities.events == [0.2, 0.7])
        table.setPriority(0.9, of: first)
        table.leave(first)
        #expect(job.priorities.events == [0.2, 0.7, 0.9, 0.7])
        #expect(job.changes.events == [1, 2, 3, 4])
        table.leave(second)
        #expect(job.stops.count == 1)
    }
}
