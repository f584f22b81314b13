import CCodecs
import Foundation

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
        LanczosKernel.steps.withUnsafeBufferPointer { table in
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

/// The Lanczos window with three lobes: sinc(x) · sinc(x / 3) for |x| < 3, else 0.
enum LanczosKernel {
    static let radius = 3.0

    private static let stepsPerUnit = 1024.0

    /// The function at each step from 0 on, with a zero behind the last: reading between two steps is off
    /// by less than 10⁻⁶, and much faster than two sines.
    static let steps: [Float] = (0...Int(radius * stepsPerUnit) + 1).map { step in
        Float(exact(Double(step) / stepsPerUnit))
    }

    @inline(__always)
    static func value(at distance: Double, in table: UnsafeBufferPointer<Float>) -> Double {
        let position = abs(distance) * stepsPerUnit
        guard position < radius * stepsPerUnit else { return 0 }
        let step = Int(position)
        let fraction = Float(position - Double(step))
        return Double(table[step] + (table[step + 1] - table[step]) * fraction)
    }

    private static func exact(_ x: Double) -> Double {
        if x == 0 { return 1 }
        guard x < radius else { return 0 }
        let angle = Double.pi * x
        return sin(angle) / angle * sin(angle / radius) / (angle / radius)
    }
}

/// The samples of an axis that the filter sees, and what they weigh. Of a halved axis it is the
/// interpolated samples.
struct FilterWindow {
    /// Samples that are weighed for each target sample, some of them with zero.
    let count: Int
    private let sourceCount: Int
    private let scale: Double
    private let stretch: Double

    init(_ axis: SampleAxis) {
        let extent = axis.isHalved ? 2 * axis.extent : axis.extent
        sourceCount = axis.isHalved ? max(1, Int(extent.rounded(.up))) : axis.sourceCount
        scale = extent / Double(axis.targetCount)
        // Enlarging keeps the filter's own width.
        stretch = max(scale, 1)
        let radius = LanczosKernel.radius * stretch
        count = min(Int((2 * radius).rounded(.up)) + 1, sourceCount)
    }

    /// Weighs `count` samples for one target sample.
    ///
    /// - Returns: The first of them.
    @inline(__always)
    func weigh(
        _ target: Int, into weights: UnsafeMutableBufferPointer<Double>,
        _ table: UnsafeBufferPointer<Float>
    ) -> Int {
        let centre = (Double(target) + 0.5) * scale
        let edge = centre - LanczosKernel.radius * stretch
        let start = min(max(Int((edge - 0.5).rounded(.up)), 0), sourceCount - count)
        let narrow = 1 / stretch
        for index in 0..<count {
            let distance = Double(start + index) + 0.5 - centre
            weights[index] = LanczosKernel.value(at: distance * narrow, in: table)
        }
        return start
    }
}

/// One axis of a plane that is resampled: how many samples it has, how far the picture reaches along it,
/// and how many samples are made of it.
public struct SampleAxis: Hashable, Sendable {
    /// Samples there are.
    public let sourceCount: Int
    /// The picture's length in source samples. It may end within the last sample, when a plane was
    /// reduced by more than its length can be divided by.
    public let extent: Double
    /// Samples that are made.
    public let targetCount: Int
    /// Whether the samples stand for twice as many, with linear interpolation between them: what all
    /// decoders make of chroma that is stored with half the resolution.
    public let isHalved: Bool

    /// - Parameter extent: The picture's length in source samples; all of them by default.
    public init(sourceCount: Int, extent: Double? = nil, targetCount: Int, isHalved: Bool = false) {
        precondition(sourceCount > 0 && targetCount > 0, "an axis without samples")
        self.sourceCount = sourceCount
        self.extent = extent ?? Double(sourceCount)
        self.targetCount = targetCount
        self.isHalved = isHalved
    }
}
