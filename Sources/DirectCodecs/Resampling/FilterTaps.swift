import CPixels

/// The source samples that each target sample of an axis is made of, and their weights: Lanczos-3,
/// widened by the reduction, so that nothing above the target's resolution remains.
///
/// Beyond the ends of the axis there is nothing: weights there are left out, the others sum up to 1.
struct FilterTaps: Sendable {
    /// Weights of each target sample, most of them followed by zeros.
    let width: Int
    /// The first source sample of each target sample.
    let starts: [Int32]
    /// The weights in Q14, `width` for each target sample, one sample after the other.
    let weights: [Int16]

    /// - Parameter multiple: What `width` is to be a multiple of.
    init(_ axis: SampleAxis, widthMultipleOf multiple: Int) {
        let scale = axis.extent / Double(axis.targetCount)
        // Enlarging keeps the filter's own width.
        let stretch = max(scale, 1)
        let radius = LanczosKernel.radius * stretch
        let most = min(Int((2 * radius).rounded(.up)) + 1, axis.sourceCount)
        let width = (most + multiple - 1) / multiple * multiple
        var starts = [Int32](repeating: 0, count: axis.targetCount)
        var weights = [Int16](repeating: 0, count: axis.targetCount * width)
        LanczosKernel.withTable { table in
            weights.withUnsafeMutableBufferPointer { weights in
                withUnsafeTemporaryAllocation(of: Double.self, capacity: most) { exact in
                    for target in 0..<axis.targetCount {
                        let centre = (Double(target) + 0.5) * scale
                        let start = Self.start(centre - radius, most: most, axis)
                        starts[target] = Int32(start)
                        var sum = 0.0
                        for tap in 0..<most {
                            let distance = Double(start + tap) + 0.5 - centre
                            exact[tap] = LanczosKernel.value(at: distance / stretch, in: table)
                            sum += exact[tap]
                        }
                        Self.quantize(
                            exact, by: Double(CPIXELS_TAP_ONE) / sum,
                            into: UnsafeMutableBufferPointer(
                                rebasing: weights[target * width..<(target + 1) * width]))
                    }
                }
            }
        }
        self.width = width
        self.starts = starts
        self.weights = weights
    }

    /// The first sample whose centre is at `edge` or behind it, so that `most` samples are left.
    private static func start(_ edge: Double, most: Int, _ axis: SampleAxis) -> Int {
        min(max(Int((edge - 0.5).rounded(.up)), 0), axis.sourceCount - most)
    }

    /// Rounds so that the sum is exactly 1: a flat colour stays what it is.
    private static func quantize(
        _ exact: UnsafeMutableBufferPointer<Double>, by factor: Double,
        into weights: UnsafeMutableBufferPointer<Int16>
    ) {
        var left = Int(CPIXELS_TAP_ONE)
        var largest = 0
        for tap in exact.indices {
            let weight = Int((exact[tap] * factor).rounded())
            weights[tap] = Int16(clamping: weight)
            left -= weight
            if exact[tap] > exact[largest] { largest = tap }
        }
        weights[largest] = Int16(clamping: Int(weights[largest]) + left)
    }
}

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
