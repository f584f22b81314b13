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
        return weights(vertical).flatMap { column -> [Double] in
            var blended = [Double](repeating: 0, count: width)
            for (index, weight) in column.values.enumerated() {
                let row = (column.first + index) * width
                for x in 0..<width { blended[x] += weight * samples[row + x] }
            }
            return rows.map { row in
                zip(row.values, blended[row.first...]).reduce(0) { $0 + $1.0 * $1.1 }
            }
        }
    }

    /// One channel of interleaved bytes.
    static func channel(
        _ channel: Int, of bytes: [UInt8], _ channels: Int, _ horizontal: SampleAxis,
        _ vertical: SampleAxis
    ) -> [Double] {
        let samples = stride(from: channel, to: bytes.count, by: channels).map { Double(bytes[$0]) }
        return plane(samples, horizontal, vertical)
    }

    /// The signal-to-noise ratio in decibels of RGB bytes against those of a larger picture, resampled.
    static func quality(
        _ made: [UInt8], _ width: Int, _ height: Int, of pixels: [UInt8], _ fullWidth: Int
    ) -> Double {
        let (horizontal, vertical) = axes(fullWidth, pixels.count / 3 / fullWidth, width, height)
        var error = 0.0
        for channel in 0..<3 {
            let exact = self.channel(channel, of: pixels, 3, horizontal, vertical)
            for (index, value) in exact.enumerated() {
                error += pow(Double(made[3 * index + channel]) - min(max(value, 0), 255), 2)
            }
        }
        return 10 * log10(255 * 255 * Double(made.count) / max(error, 1e-9))
    }

    /// Both axes of a picture that is resampled.
    static func axes(_ w: Int, _ h: Int, _ toW: Int, _ toH: Int) -> (SampleAxis, SampleAxis) {
        (SampleAxis(sourceCount: w, targetCount: toW), SampleAxis(sourceCount: h, targetCount: toH))
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

    private static func lanczos(_ x: Double) -> Double {
        x == 0 ? 1 : 3 * sin(.pi * x) * sin(.pi * x / 3) / (.pi * .pi * x * x)
    }
}
