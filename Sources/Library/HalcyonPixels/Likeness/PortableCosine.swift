/// The cosine as the C library fdlibm calculates it, and with it the engines of JavaScript: C libraries differ in the
/// last digit, and where an amplitude is halfway between two levels of a hash, that digit decides.
///
/// The polynomials and the three parts of π/2 are those of fdlibm's `k_cos.c`, `k_sin.c` and `e_rem_pio2.c`:
/// Copyright (C) 1993 by Sun Microsystems, Inc. All rights reserved. Developed at SunPro, a Sun
/// Microsystems, Inc. business. Permission to use, copy, modify, and distribute this software is freely granted,
/// provided that this notice is preserved.
enum PortableCosine {
    /// - Parameter angle: From 0 to about a hundred.
    static func cosine(_ angle: Double) -> Double {
        guard angle > .pi / 4 else { return kernelCosine(angle, 0) }
        let quarters = (angle * 2 / .pi + 0.5).rounded(.down)
        let reduced = angle - quarters * halfPi.0
        let middle = quarters * halfPi.1
        let near = reduced - middle
        let tail = quarters * halfPi.2 - ((reduced - near) - middle)
        let rest = near - tail
        let error = (near - rest) - tail
        return switch Int(quarters) & 3 {
        case 0: kernelCosine(rest, error)
        case 1: -kernelSine(rest, error)
        case 2: -kernelCosine(rest, error)
        default: kernelSine(rest, error)
        }
    }

    /// π/2 as a sum: 33 bits, 33 bits more, and what is left.
    private static let halfPi = (
        1.57079632673412561417e+00, 6.07710050630396597660e-11, 2.02226624879595063154e-21
    )

    /// The cosine of `x + error`, at most π/4 away from 0.
    private static func kernelCosine(_ x: Double, _ error: Double) -> Double {
        guard abs(x) >= 0x1p-27 else { return 1 }
        let (x, error) = x < 0 ? (-x, -error) : (x, error)
        let z = x * x
        let r = z * polynomial(cosineTerms, z)
        guard x >= 0.3 else { return 1 - (0.5 * z - (z * r - x * error)) }
        // About a quarter of x, with no digits below the upper half of its bits.
        let share =
            x > 0.78125
            ? 0.28125 : Double(bitPattern: ((x.bitPattern >> 32) - 0x0020_0000) << 32)
        return (1 - share) - ((0.5 * z - share) - (z * r - x * error))
    }

    /// The sine of `x + error`, at most π/4 away from 0.
    private static func kernelSine(_ x: Double, _ error: Double) -> Double {
        let z = x * x
        let cube = z * x
        let r = polynomial(sineTerms.dropFirst(), z)
        return x - ((z * (0.5 * error - cube * r) - error) - cube * sineTerms[0])
    }

    private static func polynomial(_ terms: some BidirectionalCollection<Double>, _ z: Double)
        -> Double
    {
        terms.dropLast().reversed().reduce(terms.last ?? 0) { $1 + z * $0 }
    }

    private static let cosineTerms = [
        4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05,
        -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11,
    ]
    private static let sineTerms = [
        -1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04,
        2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10,
    ]
}
