import Foundation
import Testing

@testable import Halcyon

/// Who settles the files that have been written, and when.
@Suite final class ArrivalsTests {
    private var arrivals = Arrivals()

    private func file(_ name: String) -> ArrivedFile {
        let new = NewFile(
            name: name, key: name, bytes: Data(), expires: .distantFuture, limit: nil,
            overwriting: true)
        let row = IndexRow(
            name: name, key: name, size: 0, checksum: 0, expires: 0, accessed: 0, format: nil)
        return ArrivedFile(
            file: new, row: row, temporary: name, stamp: DiskFile.Stamp(stat()),
            completion: { _ in })
    }

    private func add(_ name: String) -> Bool { arrivals.add(file(name)) }

    private func passOver() -> Bool { arrivals.passOver() }

    private func takeNames() -> [String] { arrivals.take().map(\.file.name) }

    @Test func aFileThatNobodyWasAnnouncedBesideIsSettledAtOnce() {
        #expect(add("a"))
        #expect(takeNames() == ["a"])
        #expect(takeNames() == [])
    }

    @Test func filesWaitForThoseThatWereAnnounced() {
        for _ in 0..<3 { arrivals.announce(byteCount: 20_000) }
        #expect(!add("a"))
        #expect(!add("b"))
        #expect(add("c"))
        #expect(takeNames() == ["a", "b", "c"])
    }

    @Test func whoIsLastAndWritesNothingSettlesTheOthers() {
        arrivals.announce(byteCount: 1)
        arrivals.announce(byteCount: 1)
        #expect(!add("a"))
        #expect(passOver())
        #expect(takeNames() == ["a"])
    }

    @Test func passingOverWithNobodyWaitingLeavesNothingToSettle() {
        arrivals.announce(byteCount: 1)
        #expect(!passOver())
        #expect(add("a"))
    }

    @Test func aLargeFileIsNotWaitedFor() {
        arrivals.announce(byteCount: Arrivals.mostAwaitedBytes + 1)
        #expect(add("a"))
        #expect(takeNames() == ["a"])
        #expect(takeNames() == [])
        #expect(add("large"))
    }

    @Test func aWholeBatchDoesNotWaitForMore() {
        for _ in 0...Arrivals.batch { arrivals.announce(byteCount: 1) }
        for number in 1..<Arrivals.batch { #expect(!add("\(number)")) }
        #expect(add("last"))
        #expect(takeNames().count == Arrivals.batch)
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
        arrivals.announce(byteCount: 1)
        #expect(add("stranger"))
        #expect(takeNames() == ["stranger"])
        #expect(takeNames() == [])
        #expect(add("announced"))
    }
}
