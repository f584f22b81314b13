import Foundation

/// The Lanczos window with three lobes: sinc(x) · sinc(x / 3) for |x| < 3, else 0.
enum LanczosKernel {
    static let radius = 3.0

    private static let stepsPerUnit = 1024.0

    /// The function at each step from 0 on, with a zero behind the last: reading between two steps is off
    /// by less than 10⁻⁶, and much faster than two sines.
    private static let steps: [Float] = (0...Int(radius * stepsPerUnit) + 1).map { step in
        Float(exact(Double(step) / stepsPerUnit))
    }

    /// The table, for `value(at:in:)`.
    static func withTable<R>(_ body: (UnsafeBufferPointer<Float>) -> R) -> R {
        steps.withUnsafeBufferPointer(body)
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
