import CPixels

/// A block as 8 × 8 samples: for the chroma of 4:2:0 at 1/2.
///
/// The transform is that of Arai, Agui and Nakajima: most of the factors are in the coefficients
/// already, and five multiplications remain in each direction.
enum FullBlock: FloatBlock {
    static let side = 8
    static let slots = 64
    static let lastPlace = 63

    /// The factors are √2 · cos(kπ/16), and 1 for k = 0.
    static func step(row: Int, column: Int) -> BlockStep {
        let factors: [Float] = [
            1, 1.387039845, 1.306562965, 1.175875602, 1, 0.785694958, 0.541196100, 0.275899379,
        ]
        return BlockStep(
            slot: Int32(column * 8 + row), factor: 0.125 * factors[row] * factors[column])
    }

    @inline(__always)
    static func transform(
        _ coefficients: UnsafePointer<Float>, _ plane: PlaneDecoder,
        to samples: UnsafeMutablePointer<UInt8>
    ) {
        plane.kernels.inverse_8(coefficients, samples, plane.bytesPerRow)
    }
}
