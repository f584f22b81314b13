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
        values.update(repeating: 0, count: slots)
        values[0] = Float(mean) * 0.125
        let steps = plane.steps
        var sum = 0
        let place = reader.readValues(plane.alternating, through: lastPlace) { place, value in
            let step = steps[place]
            values[Int(step.slot)] += Float(value) * step.factor
            sum |= value
        }
        if !reader.skipBlock(from: place, plane.alternating) { damage |= 1 }
        return sum == 0
    }
}

extension SIMD4<Float> {
    /// The samples of values around 0, in bytes. Adding 2²³ leaves a rounded number in the lowest bits.
    @inline(__always)
    var samples: UInt32 {
        // `clamped`, and the same with eight lanes, would not become vector instructions.
        let low = Self(repeating: -128)
        let high = Self(repeating: 127)
        let limited = replacing(with: low, where: self .< low)
            .replacing(with: high, where: self .> high)
        let words = unsafeBitCast(
            limited + Self(repeating: 8_388_608 + 128), to: SIMD4<UInt32>.self)
        return unsafeBitCast(SIMD4<UInt8>(truncatingIfNeeded: words), to: UInt32.self)
    }
}
