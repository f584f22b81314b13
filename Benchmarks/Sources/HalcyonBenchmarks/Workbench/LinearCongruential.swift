/// Numbers that look random and are the same in each run.
struct LinearCongruential {
    var state: UInt64

    /// A number of 0..<bound.
    mutating func next(below bound: Int) -> Int {
        // The constants of Knuth's MMIX; the high bits are the random ones.
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int((state >> 33) % UInt64(bound))
    }
}
