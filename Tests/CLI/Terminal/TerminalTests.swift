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

struct ProgressBoardTests {
    private func board(running: Int, of count: Int) -> ProgressBoard {
        var board = ProgressBoard(sourceCount: count)
        for index in 0..<running {
            board.start(index, label: "a-rather-long-name-\(index).jpg")
            board.receive(index, received: 500, total: 1000)
        }
        return board
    }

    @Test(arguments: [1, 5, 10, 20, 40, 80, 200]) func noLineIsWiderThanTheTerminal(width: Int) {
        let lines = board(running: 3, of: 9).lines(width: width, height: 24, style: .plain)
        #expect(lines.allSatisfy { $0.columns <= width })
    }

    @Test func drawsOneLinePerRunningSourceAndASummary() {
        let lines = board(running: 3, of: 9).lines(width: 79, height: 24, style: .plain)
        #expect(lines.count == 4 && lines[0].contains("50%"))
        #expect(lines[0].contains("500 B of 1.0 kB") && lines[3] == "0 of 9 images, 1.5 kB")
    }

    @Test func leavesOutWhatDoesNotFitOnTheScreen() {
        let lines = board(running: 8, of: 9).lines(width: 79, height: 6, style: .plain)
        #expect(lines.count == 6 && lines[4] == "… and 4 more")
    }

    @Test func theBarIsAsLongAsWhatHasArrived() {
        var board = ProgressBoard(sourceCount: 1)
        board.start(0, label: "a")
        board.receive(0, received: 1, total: 4)
        let line = board.lines(width: 100, height: 24, style: .plain)[0]
        #expect(line.count { $0 == "━" } * 3 == line.count { $0 == "─" })
    }

    @Test func waitsWhileNothingIsKnown() {
        var board = ProgressBoard(sourceCount: 1)
        board.start(0, label: "a")
        #expect(board.lines(width: 79, height: 24, style: .plain)[0].hasSuffix("waiting"))
    }

    @Test func countsWhatIsFinished() {
        var board = board(running: 3, of: 3)
        board.finish(0, failed: false)
        board.finish(1, failed: true)
        board.finish(1, failed: true)
        board.receive(1, received: 9999, total: 9999)
        let lines = board.lines(width: 79, height: 24, style: .plain)
        #expect(lines.last == "2 of 3 images, 1.5 kB, 1 failed")
    }

    @Test(arguments: [1, 20, 40, 200]) func theBarOfAllIsAsLongAsWhatIsFinished(width: Int) {
        var board = ProgressBoard(sourceCount: 4, showsTotalBar: true)
        board.finish(failed: true)
        let lines = board.lines(width: width, height: 24, style: .plain)
        #expect(lines.count == 1 && lines[0].columns <= width)
        guard width == 200 else { return }
        #expect(lines[0].count { $0 == "━" } == 10 && lines[0].count { $0 == "─" } == 30)
        #expect(lines[0].hasSuffix("  1 of 4 images, 1 failed"))
    }
}
