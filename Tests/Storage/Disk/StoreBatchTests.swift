import Foundation
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
        #expect(takeNames() == ["a"])
        #expect(takeNames() == [])
    }

    @Test func filesWaitForThoseThatWereAnnounced() {
        for _ in 0..<3 { batch.announce(byteCount: 20_000) }
        #expect(!add("a"))
        #expect(!add("b"))
        #expect(add("c"))
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
        #expect(takeNames() == ["a"])
        #expect(takeNames() == [])
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
        #expect(takeNames() == ["b"])
        #expect(takeNames() == [])
        #expect(add("c"))
    }

    @Test func filesThatWereNotAnnouncedLeaveNobodyWaiting() {
        batch.announce(byteCount: 1)
        #expect(add("stranger"))
        #expect(takeNames() == ["stranger"])
        #expect(takeNames() == [])
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
