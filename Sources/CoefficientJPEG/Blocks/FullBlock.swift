/// A block as 8 × 8 samples: for the chroma of 4:2:0 at 1/2.
///
/// The transform is that of Arai, Agui and Nakajima: most of the factors are in the coefficients
/// already, and five multiplications remain in each direction.
enum FullBlock: FloatBlock {
    static let side = 8
    static let slots = 64
    static let lastPlace = 63

    /// Coefficients lie column by column: so the rows come out as vectors in the end. The factors are
    /// √2 · cos(kπ/16), and 1 for k = 0.
    static func step(row: Int, column: Int) -> BlockStep {
        let factors: [Float] = [
            1, 1.387039845, 1.306562965, 1.175875602, 1, 0.785694958, 0.541196100, 0.275899379,
        ]
        return BlockStep(
            slot: Int32(column * 8 + row), factor: 0.125 * factors[row] * factors[column])
    }

    @inline(__always)
    static func decode(
        _ reader: inout BitReader, _ plane: inout PlaneDecoder,
        to samples: UnsafeMutablePointer<UInt8>, damage: inout Int
    ) {
        let target = UnsafeMutableRawPointer(samples)
        let stride = plane.bytesPerRow
        guard !read(&reader, &plane, damage: &damage) else {
            let only = SIMD8<Float>(repeating: plane.scratch.load(as: Float.self))
            let row = bytes(only)
            for index in 0..<8 {
                target.storeBytes(of: row, toByteOffset: index &* stride, as: UInt64.self)
            }
            return
        }
        let values = plane.scratch.assumingMemoryBound(to: SIMD8<Float>.self)
        transform(values)
        transpose(values)
        transform(values)
        for index in 0..<8 {
            target.storeBytes(
                of: bytes(values[index]), toByteOffset: index &* stride, as: UInt64.self)
        }
    }

    /// The inverse across eight vectors, in place.
    @inline(__always)
    private static func transform(_ c: UnsafeMutablePointer<SIMD8<Float>>) {
        let (sum04, difference04) = (c[0] + c[4], c[0] - c[4])
        let sum26 = c[2] + c[6]
        let difference26 = (c[2] - c[6]) * 1.414213562 - sum26
        let even = (
            sum04 + sum26, difference04 + difference26,
            difference04 - difference26, sum04 - sum26
        )
        let (sum53, difference53) = (c[5] + c[3], c[5] - c[3])
        let (sum17, difference17) = (c[1] + c[7], c[1] - c[7])
        let odd0 = sum17 + sum53
        let turned = (difference53 + difference17) * 1.847759065
        let odd1 = turned - difference53 * 2.613125930 - odd0
        let odd2 = (sum17 - sum53) * 1.414213562 - odd1
        let odd3 = turned - difference17 * 1.082392200 - odd2
        (c[0], c[7]) = (even.0 + odd0, even.0 - odd0)
        (c[1], c[6]) = (even.1 + odd1, even.1 - odd1)
        (c[2], c[5]) = (even.2 + odd2, even.2 - odd2)
        (c[3], c[4]) = (even.3 + odd3, even.3 - odd3)
    }

    /// Exchanges pairs of vectors' halves, quarters and eighths.
    @inline(__always)
    private static func transpose(_ m: UnsafeMutablePointer<SIMD8<Float>>) {
        for index in 0..<4 {
            let (a, b) = (m[index], m[index + 4])
            m[index] = SIMD8(lowHalf: a.lowHalf, highHalf: b.lowHalf)
            m[index + 4] = SIMD8(lowHalf: a.highHalf, highHalf: b.highHalf)
        }
        for pair in 0..<4 {
            // 0, 1, 4 and 5.
            let index = pair + pair & 2
            let (a, b) = (m[index], m[index + 2])
            m[index] = SIMD8(a[0], a[1], b[0], b[1], a[4], a[5], b[4], b[5])
            m[index + 2] = SIMD8(a[2], a[3], b[2], b[3], a[6], a[7], b[6], b[7])
        }
        for index in 0..<4 {
            let (a, b) = (m[2 * index], m[2 * index + 1])
            m[2 * index] = SIMD8(a[0], b[0], a[2], b[2], a[4], b[4], a[6], b[6])
            m[2 * index + 1] = SIMD8(a[1], b[1], a[3], b[3], a[5], b[5], a[7], b[7])
        }
    }

    @inline(__always)
    private static func bytes(_ values: SIMD8<Float>) -> UInt64 {
        UInt64(values.lowHalf.samples) | UInt64(values.highHalf.samples) &<< 32
    }
}
