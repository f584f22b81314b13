import Testing

@testable import HalcyonCLI

struct DisplayWidthTests {
    @Test(arguments: [
        ("abc", 3), ("", 0), ("é", 1), ("e\u{301}", 1), ("翠鸟", 4), ("물총새", 6), ("🐦", 2),
        ("a\u{200D}", 1),
    ])
    func countsTheColumnsOfATerminal(text: String, columns: Int) {
        #expect(text.columns == columns)
    }

    @Test func shortensInTheMiddle() {
        #expect("abcdefghij".shortened(to: 10) == "abcdefghij")
        #expect("abcdefghij".shortened(to: 7) == "abc…hij")
        #expect("abcdefghij".shortened(to: 1) == "…")
        #expect("abcdefghij".shortened(to: 0) == "")
    }

    @Test(arguments: 0...12)
    func neverExceedsTheLimit(limit: Int) {
        #expect("翠鸟翠鸟翠鸟".shortened(to: limit).columns <= limit)
    }

    @Test func breaksLinesAtSpaces() {
        #expect("one two three four".wrapped(to: 9) == ["one two", "three", "four"])
        #expect("unbreakable word".wrapped(to: 4) == ["unbreakable", "word"])
        #expect("".wrapped(to: 4) == [])
    }

    @Test func padsOnEitherSide() {
        #expect("ab".padded(to: 4) == "ab  ")
        #expect("鸟".padded(to: 4, alignment: .right) == "  鸟")
        #expect("abcde".padded(to: 4) == "abcde")
    }

    @Test func replacesWhatATerminalWouldObey() {
        #expect("a\u{1B}[31mb\r\n\u{202E}c".printable == "a\u{FFFD}[31mb\u{FFFD}\u{FFFD}\u{FFFD}c")
    }
}
