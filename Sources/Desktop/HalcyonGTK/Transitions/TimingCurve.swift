import Foundation
import Halcyon

/// The progress of an animation over time: a cubic Bézier curve from (0, 0) to (1, 1).
///
/// The curves are those of CSS ("CSS Easing Functions", section 2.2), which are also UIKit's.
struct TimingCurve: Hashable, Sendable {
    private let first: CGPoint
    private let second: CGPoint

    private init(_ x1: CGFloat, _ y1: CGFloat, _ x2: CGFloat, _ y2: CGFloat) {
        first = CGPoint(x: x1, y: y1)
        second = CGPoint(x: x2, y: y2)
    }

    static let linear = TimingCurve(0, 0, 1, 1)
    static let easeIn = TimingCurve(0.42, 0, 1, 1)
    static let easeOut = TimingCurve(0, 0, 0.58, 1)
    static let easeInOut = TimingCurve(0.42, 0, 0.58, 1)

    /// The curve named by `options`; `easeInOut` by default.
    init(_ options: ImageTransition.AnimationOptions) {
        self =
            switch (
                options.contains(.curveLinear), options.contains(.curveEaseIn),
                options.contains(.curveEaseOut)
            ) {
            case (true, _, _): .linear
            case (false, true, false): .easeIn
            case (false, false, true): .easeOut
            case (false, _, _): .easeInOut
            }
    }

    /// Returns the progress, 0 … 1, at the fraction `time`, 0 … 1, of the duration.
    func progress(at time: Double) -> Double {
        guard time > 0 else { return 0 }
        guard time < 1 else { return 1 }
        // x grows with the parameter, so bisection finds it: to 2⁻³⁰, finer than any screen shows.
        var (low, high) = (0.0, 1.0)
        for _ in 0..<30 {
            let middle = (low + high) / 2
            if Self.value(middle, first.x, second.x) < time { low = middle } else { high = middle }
        }
        return Self.value((low + high) / 2, first.y, second.y)
    }

    private static func value(_ t: Double, _ first: CGFloat, _ second: CGFloat) -> Double {
        let u = 1 - t
        return 3 * u * u * t * first + 3 * u * t * t * second + t * t * t
    }
}
