extension Int {
    /// The sum, or the greatest number if it is larger than that.
    func clampedPlus(_ other: Int) -> Int {
        let (sum, isTooLarge) = addingReportingOverflow(other)
        return isTooLarge ? .max : sum
    }

    /// The product, or the greatest number if it is larger than that.
    func clampedTimes(_ other: Int) -> Int {
        let (product, isTooLarge) = multipliedReportingOverflow(by: other)
        return isTooLarge ? .max : product
    }
}
