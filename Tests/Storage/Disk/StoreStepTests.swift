import Foundation
import Glibc
import HalcyonTestKit
import HalcyonWork
import Testing

@testable import HalcyonStorage

/// Who settles the files that have been written, and when.
@Suite final class StoreBatchTests {
    private var batch = StoreBatch()

    private func file(_ name: String) -> WrittenFile {
        let new = NewFile(
            name: name, key: name, bytes: Data(), expires: .distantFuture, limit: nil,
            overwriting: true)
        let row = IndexRow(
            name: name, key: name, size: 0, checksum: 0, expires: 0, accessed: 0, format: nil)
        return WrittenFile(
            file: new, row: row, temporary: name, stamp: DiskFile.Stamp(stat()),
            completion: { _ in })
    }

    private func add(_ name: String) -> Bool { batch.add(file(name)) }

    private func passOver() -> Bool { batch.passOver() }

    private func takeNames() -> [String] { batch.take().map(\.file.name) }

    @Test func aFileThatNobodyWasAnnouncedBesideIsSettledAtOnce() {
        #expect(add("a"))
        #expect(takeNames() == ["a"] && takeNames() == [])
    }

    @Test func filesWaitForThoseThatWereAnnounced() {
        for _ in 0..<3 { batch.announce(byteCount: 20_000) }
        #expect(!add("a") && !add("b") && add("c"))
        #expect(takeNames() == ["a", "b", "c"])
    }

    @Test func whoIsLastAndWritesNothingSettlesTheOthers() {
        batch.announce(byteCount: 1)
        batch.announce(byteCount: 1)
        #expect(!add("a"))
        #expect(passOver())
        #expect(takeNames() == ["a"])
    }

    @Test func passingOverWithNobodyWaitingLeavesNothingToSettle() {
        batch.announce(byteCount: 1)
        #expect(!passOver())
        #expect(add("a"))
    }

    @Test func aLargeFileIsNotWaitedFor() {
        batch.announce(byteCount: StoreBatch.mostAwaitedBytes + 1)
        #expect(add("a"))
        #expect(takeNames() == ["a"] && takeNames() == [])
        #expect(add("large"))
    }

    @Test func aWholeBatchDoesNotWaitForMore() {
        for _ in 0...StoreBatch.capacity { batch.announce(byteCount: 1) }
        for number in 1..<StoreBatch.capacity { #expect(!add("\(number)")) }
        #expect(add("last"))
        #expect(takeNames().count == StoreBatch.capacity)
    }

    @Test func whatArrivesDuringTheSettlingIsLeftToWhoSettles() {
        #expect(add("a"))
        #expect(takeNames() == ["a"])
        #expect(!add("b"))
        #expect(takeNames() == ["b"] && takeNames() == [])
        #expect(add("c"))
    }

    @Test func filesThatWereNotAnnouncedLeaveNobodyWaiting() {
        batch.announce(byteCount: 1)
        #expect(add("stranger"))
        #expect(takeNames() == ["stranger"] && takeNames() == [])
        #expect(add("announced"))
    }

    @Test func oneSettlesForAllThatCameMeanwhile() {
        let begins = (0...100).map { add("\($0)") }
        #expect(begins == [true] + Array(repeating: false, count: 100), "one is at work")
        let counts = [batch.take().count, batch.take().count]
        #expect(counts == [StoreBatch.capacity, 101 - StoreBatch.capacity])
        let isNeeded = add("n")
        #expect(!isNeeded, "the one at work asks once more")
        let rest = [batch.take().count, batch.take().count]
        #expect(rest == [1, 0])
        let isNeededNow = add("n")
        #expect(isNeededNow, "that was the end")
    }
}

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

@Suite struct IndexMirrorTests {
    private func entry(_ name: String) -> IndexMirror.Entry {
        IndexMirror.Entry(
            row: IndexRow(name: name, size: 0, expires: 1, accessed: 0),
            stamp: DiskFile.Stamp(stat()))
    }

    private func names(_ range: Range<Int>) -> [String] { range.map { "\($0)" } }

    @Test func whatWasNotUsedForLongIsForgotten() {
        var mirror = IndexMirror()
        for name in ["used", "unused"] { mirror.set(entry(name), of: name) }
        for name in names(0..<6000) {
            mirror.set(entry(name), of: name)
            let isUsedKnown = mirror.entry("used") != nil
            #expect(isUsedKnown)
        }
        let isUnusedKnown = mirror.entry("unused") != nil
        #expect(!isUnusedKnown)
    }

    @Test func whatWasReadLatelyIsKnown() {
        var mirror = IndexMirror()
        for name in names(0..<6000) { mirror.set(entry(name), of: name) }
        let known = names(4000..<6000).filter { mirror.entry($0) != nil }
        #expect(known.count == 2000)
    }

    @Test func aRowThatIsForgottenIsNotKnownFromBefore() {
        var mirror = IndexMirror()
        for name in names(0..<3000) { mirror.set(entry(name), of: name) }
        for name in names(0..<3000) { mirror.set(nil, of: name) }
        let known = names(0..<3000).filter { mirror.entry($0) != nil }
        #expect(known.isEmpty)
    }

    @Test func anAccessChangesTheRow() {
        var mirror = IndexMirror()
        mirror.set(entry("a"), of: "a")
        mirror.note(IndexLog.Access(accessed: 5, expires: 9), of: "a")
        mirror.note(IndexLog.Access(accessed: 5, expires: 9), of: "unknown")
        let row = mirror.entry("a")?.row
        #expect(row?.accessed == 5 && row?.expires == 9)
        let unknown = mirror.entry("unknown")?.row
        #expect(unknown == nil)
    }
}
