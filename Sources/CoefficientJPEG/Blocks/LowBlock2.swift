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
        // Values at the places 0...19: all that one symbol from place 4 at most can reach.
        let values = plane.scratch.assumingMemoryBound(to: Int.self)
        values[1] = 0
        values[2] = 0
        values[4] = 0
        var place = 1
        while place <= 4 {
            reader.refill()
            let symbol = reader.readSymbol(plane.alternating)
            guard symbol.advance > 0 else {
                place = 64
                break
            }
            place &+= symbol.advance
            guard place <= 64 else { break }
            values[place &- 1] = symbol.value
        }
        if !reader.skipBlock(from: place, plane.alternating) { damage |= 1 }
        let horizontal = values[1] &* Int(plane.steps[1].quantum)
        let vertical = values[2] &* Int(plane.steps[2].quantum)
        let diagonal = values[4] &* Int(plane.steps[4].quantum)
        let below = samples + plane.bytesPerRow
        let (left, right) = (mean &+ horizontal, mean &- horizontal)
        let (sum, difference) = (vertical &+ diagonal, vertical &- diagonal)
        samples[0] = sample((left &+ sum) &>> 3)
        samples[1] = sample((right &+ difference) &>> 3)
        below[0] = sample((left &- sum) &>> 3)
        below[1] = sample((right &- difference) &>> 3)
    }
}
