/// A block as one sample: its mean.
enum MeanBlock: BlockDecoder {
    static let side = 1

    @inline(__always)
    static func decode(
        _ reader: inout BitReader, _ plane: inout PlaneDecoder,
        to samples: UnsafeMutablePointer<UInt8>, damage: inout Int
    ) {
        let mean = plane.readMean(&reader, damage: &damage)
        samples[0] = sample((mean &+ 4) &>> 3)
        if !reader.skipBlock(from: 1, plane.alternating) { damage |= 1 }
    }
}
