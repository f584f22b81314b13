import Foundation

@testable import DirectCodecs

/// Lanczos-3 by its definition, in double precision.
enum ExactLanczos {
    static func plane(
        _ samples: [Double], _ horizontal: SampleAxis, _ vertical: SampleAxis
    ) -> [Double] {
        let width = horizontal.sourceCount
        let columns = matrix(vertical)
        let rows = matrix(horizontal)
        return columns.flatMap { weights -> [Double] in
            let blended = (0..<width).map { x in
                weights.enumerated().reduce(0) { $0 + $1.element * samples[$1.offset * width + x] }
            }
            return rows.map { weights in zip(weights, blended).reduce(0) { $0 + $1.0 * $1.1 } }
        }
    }

    /// For each target sample the weights of all source samples.
    private static func matrix(_ axis: SampleAxis) -> [[Double]] {
        let scale = axis.extent / Double(axis.targetCount)
        let stretch = max(scale, 1)
        return (0..<axis.targetCount).map { target in
            let centre = (Double(target) + 0.5) * scale
            let weights = (0..<axis.sourceCount).map { source in
                lanczos((Double(source) + 0.5 - centre) / stretch)
            }
            let sum = weights.reduce(0, +)
            return weights.map { $0 / sum }
        }
    }

    private static func lanczos(_ x: Double) -> Double {
        guard abs(x) < 3 else { return 0 }
        return sinc(x) * sinc(x / 3)
    }

    private static func sinc(_ x: Double) -> Double {
        x == 0 ? 1 : sin(.pi * x) / (.pi * x)
    }
}
