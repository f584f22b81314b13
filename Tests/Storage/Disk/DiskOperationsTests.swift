import HalcyonTestKit
import HalcyonWork
import Testing

@testable import HalcyonStorage

@Suite struct DiskOperationsTests {
    let operations = DiskOperations()
    let log = Recorder<String>()

    @Test func changesOfOneFileAreDoneInOrder() async {
        for step in 0..<50 {
            _ = operations.enqueue(.file("a")) { [log] in
                await Task.yield()
                log.record("\(step)")
            }
        }
        await operations.pending("a")?.value
        #expect(log.events == (0..<50).map(String.init))
        #expect(operations.pending("a") == nil)
    }

    @Test func anotherFileDoesNotWait() async throws {
        let gate = Gate()
        let slow = operations.enqueue(.file("a")) { [log] in
            try? await gate.wait()
            log.record("a")
        }
        #expect(operations.pending("b") == nil)
        await operations.enqueue(.file("b")) { [log] in log.record("b") }.value
        gate.open()
        await slow.value
        #expect(log.events == ["b", "a"])
    }

    @Test func aChangeOfEverythingWaitsAndLetsWait() async throws {
        let gate = Gate()
        let first = operations.enqueue(.file("a")) { [log] in
            try? await gate.wait()
            log.record("a")
        }
        let all = operations.enqueue(.everything) { [log] in log.record("all") }
        let last = operations.enqueue(.file("b")) { [log] in log.record("b") }
        #expect(operations.pending("c") != nil)
        gate.open()
        for task in [first, all, last] { await task.value }
        #expect(log.events == ["a", "all", "b"])
        #expect(operations.pending("c") == nil)
    }

    @Test func finishingWaitsForAllThatWasAskedFor() async {
        for file in ["a", "b", "c"] {
            _ = operations.enqueue(.file(file)) { [log] in
                await Task.yield()
                log.record(file)
            }
        }
        await operations.finishAll()
        #expect(Set(log.events) == ["a", "b", "c"])
    }
}
