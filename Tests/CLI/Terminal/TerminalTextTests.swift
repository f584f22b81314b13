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

    @Test(arguments: 0...12) func neverExceedsTheLimit(limit: Int) {
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

struct QuantityTests {
    @Test(arguments: [
        (0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (196_653, "196.7 kB"),
        (999_949, "999.9 kB"), (999_950, "1.0 MB"), (12_300_000_000, "12.3 GB"),
    ])
    func choosesTheUnitOfBytes(count: Int64, text: String) {
        #expect(Quantity.bytes(count) == text)
    }

    @Test func keepsThreeDigitsOfMilliseconds() {
        #expect(Quantity.milliseconds(0.0123) == "0.01 ms")
        #expect(Quantity.milliseconds(12.34) == "12.3 ms")
        #expect(Quantity.milliseconds(1234.5) == "1234 ms")
    }

    @Test func countsNounsInSingularAndPlural() {
        #expect(Quantity.count(1, "file") == "1 file" && Quantity.count(0, "file") == "0 files")
    }

    @Test func convertsDurations() {
        #expect(Duration.milliseconds(1500).milliseconds == 1500)
        #expect(Duration.microseconds(250).milliseconds == 0.25)
    }
}

struct TableTests {
    @Test func alignsColumnsByTheirWidestText() {
        var table = Table(.init(title: "name"), .init(title: "bytes", alignment: .right))
        table.add(["翠鸟.jpg", "12"])
        table.add(["a"])
        #expect(
            table.lines == [
                "name      bytes",
                "────────  ─────",
                "翠鸟.jpg     12",
                "a",
            ])
    }

    @Test func aLineBreakInATextStaysInItsRow() {
        var table = Table(.init(title: "key"))
        table.add(["a\nb"])
        #expect(table.lines.count == 3)
        #expect(table.lines.allSatisfy { !$0.contains("\n") })
    }
}

struct TextStyleTests {
    @Test func coloursOnlyForATerminalThatWantsThem() {
        #expect(TextStyle(isTerminal: true, environment: [:]).isColoured)
        #expect(TextStyle(isTerminal: true, environment: ["NO_COLOR": ""]).isColoured)
        #expect(!TextStyle(isTerminal: false, environment: [:]).isColoured)
        #expect(!TextStyle(isTerminal: true, environment: ["NO_COLOR": "1"]).isColoured)
        #expect(!TextStyle(isTerminal: true, environment: ["TERM": "dumb"]).isColoured)
    }

    @Test func wrapsTextInEscapeSequences() {
        #expect(TextStyle(isColoured: true)(.red, "no") == "\u{1B}[31mno\u{1B}[0m")
        #expect(TextStyle.plain(.red, "no") == "no")
    }
}
