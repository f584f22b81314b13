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

    /// Coefficients lie column by column: so the rows come out as vectors in the end.
    static func step(row: Int, column: Int) -> BlockStep {
        guard row < 4, column < 4 else { return BlockStep(slot: 16) }
        let factors: [Float] = [0.5, 0.270598050, 0.5, 0.270598050]
        return BlockStep(
            slot: Int32(column * 4 + row), factor: 0.5 * factors[row] * factors[column])
    }

    @inline(__always)
    static func decode(
        _ reader: inout BitReader, _ plane: inout PlaneDecoder,
        to samples: UnsafeMutablePointer<UInt8>, damage: inout Int
    ) {
        let target = UnsafeMutableRawPointer(samples)
        let stride = plane.bytesPerRow
        guard !read(&reader, &plane, damage: &damage) else {
            let only = SIMD4<Float>(repeating: plane.scratch.load(as: Float.self))
            let row = only.samples
            for index in 0..<4 {
                target.storeBytes(of: row, toByteOffset: index &* stride, as: UInt32.self)
            }
            return
        }
        let columns = transform(
            (
                plane.scratch.load(as: SIMD4<Float>.self),
                plane.scratch.load(fromByteOffset: 16, as: SIMD4<Float>.self),
                plane.scratch.load(fromByteOffset: 32, as: SIMD4<Float>.self),
                plane.scratch.load(fromByteOffset: 48, as: SIMD4<Float>.self)
            ))
        let rows = transform(transposed(columns))
        target.storeBytes(of: rows.0.samples, as: UInt32.self)
        target.storeBytes(of: rows.1.samples, toByteOffset: stride, as: UInt32.self)
        target.storeBytes(of: rows.2.samples, toByteOffset: 2 &* stride, as: UInt32.self)
        target.storeBytes(of: rows.3.samples, toByteOffset: 3 &* stride, as: UInt32.self)
    }

    private typealias Four = (SIMD4<Float>, SIMD4<Float>, SIMD4<Float>, SIMD4<Float>)

    @inline(__always)
    private static func transform(_ c: Four) -> Four {
        let ratio: Float = 2.414213562
        let (sum, difference) = (c.0 + c.2, c.0 - c.2)
        let outer = c.1 * ratio + c.3
        let inner = c.1 - c.3 * ratio
        return (sum + outer, difference + inner, difference - inner, sum - outer)
    }

    @inline(__always)
    private static func transposed(_ m: Four) -> Four {
        (
            SIMD4(m.0[0], m.1[0], m.2[0], m.3[0]), SIMD4(m.0[1], m.1[1], m.2[1], m.3[1]),
            SIMD4(m.0[2], m.1[2], m.2[2], m.3[2]), SIMD4(m.0[3], m.1[3], m.2[3], m.3[3])
        )
    }
}
