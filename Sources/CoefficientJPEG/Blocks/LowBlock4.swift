import CPixels

/// A block as 4 × 4 samples made of its 16 lowest frequencies.
///
/// An orthonormal transform of 8 × 8 becomes one of 4 × 4 by scaling with 4/8. Of the inverse, in each
/// direction
///
///     x0, x3 = ½·c0 + ½·c2 ± (a·c1 + b·c3)    a = cos(π/8)/√2
///     x1, x2 = ½·c0 - ½·c2 ± (b·c1 - a·c3)    b = sin(π/8)/√2
///
/// the factors ½ and b are in the coefficients already; a/b is 1 + √2.
enum LowBlock4: FloatBlock {
    static let side = 4
    static let slots = 16
    static let lastPlace = 24

    static func step(row: Int, column: Int) -> BlockStep {
        guard row < 4, column < 4 else { return BlockStep(slot: 16) }
        let factors: [Float] = [0.5, 0.270598050, 0.5, 0.270598050]
        return BlockStep(
            slot: Int32(column * 4 + row), factor: 0.5 * factors[row] * factors[column])
    }

    @inline(__always)
    static func transform(
        _ coefficients: UnsafePointer<Float>, _ plane: PlaneDecoder,
        to samples: UnsafeMutablePointer<UInt8>
    ) {
        plane.kernels.inverse_4(coefficients, samples, plane.bytesPerRow)
    }
}
