import CPixels

/// Taps in the order in which `filter_row` reads them; for groups of neighbouring target samples.
struct RowTaps: Sendable {
    let width: Int
    /// The target's length, filled up to whole groups.
    let paddedCount: Int
    let starts: [Int32]
    let weights: [Int16]

    /// Where the chunk of each of eight neighbours is.
    private static let places = [0, 2, 4, 6, 1, 3, 5, 7]

    init(_ axis: SampleAxis) {
        let group = Int(CPIXELS_GROUP)
        let taps = FilterTaps(axis, widthMultipleOf: group)
        width = taps.width
        let paddedCount = (axis.targetCount + group - 1) / group * group
        self.paddedCount = paddedCount
        var starts = taps.starts
        // The samples that fill the last group are made with no weight.
        starts.append(contentsOf: repeatElement(0, count: paddedCount - axis.targetCount))
        self.starts = starts
        let width = taps.width
        weights = [Int16](unsafeUninitializedCapacity: paddedCount * width) { ordered, count in
            ordered.initialize(repeating: 0)
            taps.weights.withUnsafeBufferPointer { weights in
                for target in 0..<axis.targetCount {
                    let member = target % group
                    var place = (target - member) * width + Self.places[member] * group
                    for tap in stride(from: 0, to: width, by: group) {
                        for index in 0..<group {
                            ordered[place + index] = weights[target * width + tap + index]
                        }
                        place += group * group
                    }
                }
            }
            count = paddedCount * width
        }
    }
}
