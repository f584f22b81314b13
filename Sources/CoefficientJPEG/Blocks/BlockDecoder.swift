/// Decodes blocks and makes fewer samples of each.
protocol BlockDecoder {
    /// Samples along a side.
    static var side: Int { get }

    /// Takes a block's bits, at most 1,681 of them, and writes `side` rows of `side` samples. Sets
    /// `damage` to something else than 0 when the block is not as it should be.
    static func decode(
        _ reader: inout BitReader, _ plane: inout PlaneDecoder,
        to samples: UnsafeMutablePointer<UInt8>, damage: inout Int)
}

extension BlockDecoder {
    /// The sample of a value around 0.
    @inline(__always)
    static func sample(_ value: Int) -> UInt8 {
        UInt8(truncatingIfNeeded: min(max(value &+ 128, 0), 255))
    }
}
