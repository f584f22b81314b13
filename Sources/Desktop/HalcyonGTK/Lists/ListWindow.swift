/// Which items of a list are worth having: those on show, and those that follow where it is moved to.
struct ListWindow: Equatable {
    /// How many items past those on show are wanted.
    let lookahead: Int

    /// Those on show.
    private(set) var visible = 0..<0
    private var goesBackwards = false

    init(lookahead: Int) {
        self.lookahead = max(0, lookahead)
    }

    /// The list shows `visible` now.
    mutating func move(to visible: Range<Int>) {
        if visible.lowerBound != self.visible.lowerBound {
            goesBackwards = visible.lowerBound < self.visible.lowerBound
        }
        self.visible = visible
    }

    /// Items that are not on show but will be soon, the next first: most in the direction of the last
    /// movement, a quarter as many in the other.
    ///
    /// - Parameter count: How many items there are.
    func upcoming(of count: Int) -> [Int] {
        guard !visible.isEmpty else { return [] }
        let (before, after) =
            goesBackwards ? (lookahead, lookahead / 4) : (lookahead / 4, lookahead)
        let low = max(0, visible.lowerBound - before)
        let high = max(visible.upperBound, min(count, visible.upperBound + after))
        let above = Array((low..<max(low, min(visible.lowerBound, count))).reversed())
        let below = Array(visible.upperBound..<high)
        return goesBackwards ? above + below : below + above
    }
}
