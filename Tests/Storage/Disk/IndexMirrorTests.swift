import Glibc
import Testing

@testable import HalcyonStorage

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
        mirror.note(AccessLog.Access(accessed: 5, expires: 9), of: "a")
        mirror.note(AccessLog.Access(accessed: 5, expires: 9), of: "unknown")
        let row = mirror.entry("a")?.row
        #expect(row?.accessed == 5)
        #expect(row?.expires == 9)
        let unknown = mirror.entry("unknown")?.row
        #expect(unknown == nil)
    }
}
