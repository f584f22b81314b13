import Testing

@testable import HalcyonCLI

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
