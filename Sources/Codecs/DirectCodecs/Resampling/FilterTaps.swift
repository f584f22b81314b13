import CCodecs

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
        let window = FilterWindow(axis)
        let most = axis.isHalved ? min(window.count / 2 + 2, axis.sourceCount) : window.count
        let width = (most + multiple - 1) / multiple * multiple
        var starts = [Int32](repeating: 0, count: axis.targetCount)
        var weights = [Int16](repeating: 0, count: axis.targetCount * width)
        LanczosKernel.withTable { table in
            weights.withUnsafeMutableBufferPointer { weights in
                withUnsafeTemporaryAllocation(
                    of: Double.self, capacity: window.count + most
                ) { room in
                    let exact = UnsafeMutableBufferPointer(rebasing: room[..<window.count])
                    let folded = UnsafeMutableBufferPointer(rebasing: room[window.count...])
                    for target in 0..<axis.targetCount {
                        var start = window.weigh(target, into: exact, table)
                        if axis.isHalved {
                            start = Self.fold(exact, start, into: folded, axis.sourceCount)
                        }
                        starts[target] = Int32(start)
                        Self.quantize(
                            axis.isHalved ? folded : exact,
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

    /// Weights of samples that are interpolated, from `start` on, as weights of those they are made of:
    /// three quarters of the nearer one and a quarter of the other.
    ///
    /// - Returns: The first of those.
    private static func fold(
        _ weights: UnsafeMutableBufferPointer<Double>, _ start: Int,
        into folded: UnsafeMutableBufferPointer<Double>, _ count: Int
    ) -> Int {
        let first = min(max((start + 1) / 2 - 1, 0), count - folded.count)
        folded.update(repeating: 0)
        for (index, weight) in weights.enumerated() {
            let near = (start + index) / 2
            let other = (start + index) % 2 == 0 ? near - 1 : near + 1
            folded[near - first] += 0.75 * weight
            folded[min(max(other, 0), count - 1) - first] += 0.25 * weight
        }
        return first
    }

    /// Rounds so that the sum is exactly 1: a flat colour stays what it is.
    private static func quantize(
        _ exact: UnsafeMutableBufferPointer<Double>,
        into weights: UnsafeMutableBufferPointer<Int16>
    ) {
        let factor = Double(CPIXELS_TAP_ONE) / exact.reduce(0, +)
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
