import Foundation

@testable import DirectCodecs

/// Lanczos-3 by its definition, in double precision.
enum ExactLanczos {
    /// The source samples that are weighed for one target sample.
    private struct Weights {
        let first: Int
        let values: [Double]
    }

    static func plane(
        _ samples: [Double], _ horizontal: SampleAxis, _ vertical: SampleAxis
    ) -> [Double] {
        let width = horizontal.sourceCount
        let rows = weights(horizontal)
        var result: [Double] = []
        for column in weights(vertical) {
            var blended = [Double](repeating: 0, count: width)
            for (index, weight) in column.values.enumerated() {
                let row = (column.first + index) * width
                for x in 0..<width { blended[x] += weight * samples[row + x] }
            }
            for row in rows {
                var sum = 0.0
                for index in row.values.indices {
                    sum += row.values[index] * blended[row.first + index]
                }
                result.append(sum)
            }
        }
        return result
    }

    private static func weights(_ axis: SampleAxis) -> [Weights] {
        let scale = axis.extent / Double(axis.targetCount)
        let stretch = max(scale, 1)
        return (0..<axis.targetCount).map { target in
            let centre = (Double(target) + 0.5) * scale
            let weighed = (0..<axis.sourceCount).filter {
                abs(Double($0) + 0.5 - centre) < 3 * stretch
            }
            let values = weighed.map { lanczos((Double($0) + 0.5 - centre) / stretch) }
            let sum = values.reduce(0, +)
            return Weights(first: weighed[0], values: values.map { $0 / sum })
        }
    }

    private static func lanczos(_ x: Double) -> Double { sinc(x) * sinc(x / 3) }

    private static func sinc(_ x: Double) -> Double {
        x == 0 ? 1 : sin(.pi * x) / (.pi * x)
    }
}
