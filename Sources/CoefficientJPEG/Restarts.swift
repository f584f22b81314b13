/// Counts the units of a scan up to the markers that allow starting anew there.
struct Restarts {
    private let interval: Int
    private var left: Int
    private var number: UInt8 = 0

    /// Without markers the interval is 0.
    init(interval: Int) {
        self.interval = interval
        left = interval
    }

    /// The number of the marker that comes before the next unit, 0 to 7 in turn; nil when none does.
    @inline(__always)
    mutating func next() -> UInt8? {
        guard interval > 0 else { return nil }
        guard left == 0 else {
            left &-= 1
            return nil
        }
        left = interval &- 1
        defer { number = (number &+ 1) & 7 }
        return number
    }
}
