/// Least, middle and greatest of some numbers.
struct Spread: Sendable, Equatable {
    let minimum: Double
    let median: Double
    let maximum: Double

    /// `nil` for no numbers. The median of an even count is the mean of the middle two.
    init?(_ values: [Double]) {
        let sorted = values.sorted()
        guard let first = sorted.first, let last = sorted.last else { return nil }
        let middle = sorted.count / 2
        minimum = first
        maximum = last
        median =
            sorted.count.isMultiple(of: 2)
            ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
    }

    private init(minimum: Double, median: Double, maximum: Double) {
        self.minimum = minimum
        self.median = median
        self.maximum = maximum
    }

    func scaled(by factor: Double) -> Spread {
        Spread(minimum: minimum * factor, median: median * factor, maximum: maximum * factor)
    }
}
