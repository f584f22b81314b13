import Testing

@testable import HalcyonServerURLs

/// Orientations, turns and flips.
struct TurnTests {
    /// The place of each pixel of a 3×2 picture, as `Turn` says and as found by turning the pixels.
    private func turnedPixels(_ turn: Turn) -> [[Int]] {
        var rows = [[0, 1, 2], [3, 4, 5]]
        if turn.isMirrored { rows = rows.map { $0.reversed() } }
        return turned(rows, turn.quarters)
    }

    /// Rows of pixels after some quarters of a turn.
    private func turned(_ rows: [[Int]], _ quarters: Int) -> [[Int]] {
        (0..<quarters).reduce(rows) { rows, _ in
            rows[0].indices.map { column in rows.reversed().map { $0[column] } }
        }
    }

    /// The pictures of the letter that EXIF's eight orientations are usually explained with.
    @Test(arguments: [
        (1, [[0, 1, 2], [3, 4, 5]]), (2, [[2, 1, 0], [5, 4, 3]]), (3, [[5, 4, 3], [2, 1, 0]]),
        (4, [[3, 4, 5], [0, 1, 2]]), (5, [[0, 3], [1, 4], [2, 5]]),
        (6, [[3, 0], [4, 1], [5, 2]]), (7, [[5, 2], [4, 1], [3, 0]]),
        (8, [[2, 5], [1, 4], [0, 3]]),
    ])
    func anOrientationIsATurn(orientation: Int, pixels: [[Int]]) {
        let turn = Turn(orientation: orientation)
        #expect(turnedPixels(turn) == pixels)
        #expect(turn.orientation == orientation)
    }

    @Test(arguments: 1...8) func aTurnComesAfterEXIFAndAFlipAfterThat(orientation: Int) {
        for rotation in [0, 90, 180, 270] {
            for (horizontal, vertical) in [
                (false, false), (true, false), (false, true), (true, true),
            ] {
                var options = ProcessingOptions()
                options.rotation = rotation
                options.flipHorizontally = horizontal
                options.flipVertically = vertical
                var rows = turned(turnedPixels(Turn(orientation: orientation)), rotation / 90)
                if horizontal { rows = rows.map { $0.reversed() } }
                if vertical { rows.reverse() }
                #expect(turnedPixels(Turn(orientation: orientation, options: options)) == rows)
            }
        }
    }

    @Test(arguments: 1...8) func aPartOfTheTurnedPictureIsFoundInTheStoredOne(orientation: Int) {
        let turn = Turn(orientation: orientation)
        let rows = turnedPixels(turn)
        let stored = Dimensions(width: 3, height: 2)
        #expect(turn.turned(stored) == Dimensions(width: rows[0].count, height: rows.count))
        for y in rows.indices {
            for x in rows[y].indices {
                let region = turn.stored(Region(x: x, y: y, width: 1, height: 1), in: stored)
                #expect(region.origin.y * 3 + region.origin.x == rows[y][x])
            }
        }
        let all = turn.turned(stored)
        #expect(
            turn.stored(Region(x: 0, y: 0, width: all.width, height: all.height), in: stored)
                == Region(x: 0, y: 0, width: 3, height: 2))
    }
}
