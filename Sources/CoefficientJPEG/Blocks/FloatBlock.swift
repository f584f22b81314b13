/// What the decoders of blocks that calculate with fractions share.
protocol FloatBlock: BlockDecoder {
    /// The slots of the scratch that take coefficients; one more may take those that are not used.
    static var slots: Int { get }
    /// The last place of the zigzag order whose value matters.
    static var lastPlace: Int { get }

    /// Makes samples of coefficients, which lie column by column.
    static func transform(
        _ coefficients: UnsafePointer<Float>, _ plane: PlaneDecoder,
        to samples: UnsafeMutablePointer<UInt8>)
}

extension FloatBlock {
    @inline(__always)
    static func decode(
        _ reader: inout BitReader, _ plane: inout PlaneDecoder,
        to samples: UnsafeMutablePointer<UInt8>, damage: inout Int
    ) {
        if read(&reader, &plane, damage: &damage) {
            fill(plane, samples)
        } else {
            transform(plane.scratch.assumingMemoryBound(to: Float.self), plane, to: samples)
        }
    }

    /// Reads a block into the scratch, in which slot 0 has the mean. True when there is only the mean.
    @inline(__always)
    private static func read(
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

    /// Gives all samples the mean.
    @inline(__always)
    private static func fill(_ plane: PlaneDecoder, _ samples: UnsafeMutablePointer<UInt8>) {
        let mean = plane.scratch.load(as: Float.self).rounded(.toNearestOrEven)
        let value = sample(Int(mean))
        for row in 0..<side {
            (samples + row &* plane.bytesPerRow).update(repeating: value, count: side)
        }
    }
}
