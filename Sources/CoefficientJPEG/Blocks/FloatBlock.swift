/// What the decoders of blocks that calculate with fractions share.
protocol FloatBlock: BlockDecoder {
    /// The slots of the scratch that take coefficients; one more may take those that are not used.
    static var slots: Int { get }
    /// The last place of the zigzag order whose value matters.
    static var lastPlace: Int { get }
}

extension FloatBlock {
    /// Reads a block into the scratch, in which slot 0 has the mean. True when there is only the mean.
    @inline(__always)
    static func read(
        _ reader: inout BitReader, _ plane: inout PlaneDecoder, damage: inout Int
    ) -> Bool {
        let mean = plane.readMean(&reader, damage: &damage)
        let values = plane.scratch.assumingMemoryBound(to: Float.self)
        var symbol = reader.readSymbol(plane.alternating)
        guard symbol.advance > 0 else {
            values[0] = Float(mean) * 0.125
            return true
        }
        values.update(repeating: 0, count: slots)
        values[0] = Float(mean) * 0.125
        var place = 1
        while true {
            place &+= symbol.advance
            guard place <= 64 else {
                damage |= 1
                return false
            }
            let step = plane.steps[place &- 1]
            values[Int(step.slot)] = Float(symbol.value) * step.factor
            guard place <= lastPlace else { break }
            reader.refill()
            symbol = reader.readSymbol(plane.alternating)
            guard symbol.advance > 0 else { return false }
        }
        if !reader.skipBlock(from: place, plane.alternating) { damage |= 1 }
        return false
    }
}

extension SIMD where Scalar == Float {
    /// The samples of values around 0. Adding 2²³ leaves the rounded number in the lowest bits.
    @inline(__always)
    var limited: Self {
        clamped(lowerBound: Self(repeating: -128), upperBound: Self(repeating: 127))
            + Self(repeating: 8_388_608 + 128)
    }
}
