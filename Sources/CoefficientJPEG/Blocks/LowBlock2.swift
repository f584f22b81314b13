/// A block as 2 × 2 samples made of its four lowest frequencies.
///
/// An orthonormal transform of 8 × 8 becomes one of 2 × 2 by scaling with 2/8; its inverse is
/// 1/2 · (c00 ± c01 ± c10 ± c11). Together that is a division by 8.
enum LowBlock2: BlockDecoder {
    static let side = 2

    @inline(__always)
    static func decode(
        _ reader: inout BitReader, _ plane: inout PlaneDecoder,
        to samples: UnsafeMutablePointer<UInt8>, damage: inout Int
    ) {
        // Half is added before the division.
        let mean = plane.readMean(&reader, damage: &damage) &+ 4
        let values = plane.scratch.assumingMemoryBound(to: Int32.self)
        (values + 1).update(repeating: 0, count: 4)
        let place = reader.readValues(plane.alternating, through: 4) { place, value in
            values[place] &+= Int32(truncatingIfNeeded: value)
        }
        if !reader.skipBlock(from: place, plane.alternating) { damage |= 1 }
        let horizontal = Int(values[1]) &* Int(plane.steps[1].quantum)
        let vertical = Int(values[2]) &* Int(plane.steps[2].quantum)
        let diagonal = Int(values[4]) &* Int(plane.steps[4].quantum)
        let below = samples + plane.bytesPerRow
        let (left, right) = (mean &+ horizontal, mean &- horizontal)
        let (sum, difference) = (vertical &+ diagonal, vertical &- diagonal)
        samples[0] = sample((left &+ sum) &>> 3)
        samples[1] = sample((right &+ difference) &>> 3)
        below[0] = sample((left &- sum) &>> 3)
        below[1] = sample((right &- difference) &>> 3)
    }
}
