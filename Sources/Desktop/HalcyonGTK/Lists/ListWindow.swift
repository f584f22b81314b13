/// The visible items of a list and the items to prefetch around them.
struct ListWindow: Equatable {
    /// The number of items to prefetch past the visible ones.
    let lookahead: Int

    private(set) var visible = 0..<0
    private var goesBackwards = false

    init(lookahead: Int) {
        self.lookahead = max(0, lookahead)
    }

    /// Sets the visible items, and with them the scrolling direction.
    mutating func move(to visible: Range<Int>) {
        if visible.lowerBound != self.visible.lowerBound {
            goesBackwards = visible.lowerBound < self.visible.lowerBound
        }
        self.visible = visible
    }

    /// Returns the items to prefetch, the nearest first: most of them in the direction of the last
    /// movement, a quarter as many in the other.
    ///
    /// - Parameter count: The number of items in the list.
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
