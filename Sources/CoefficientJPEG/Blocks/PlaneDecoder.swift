import CPixels

/// What the blocks of one plane are decoded with, and where their samples go.
///
/// The pointers are those of `PlaneDecoders`, which lives longer.
struct PlaneDecoder {
    let size: PlaneSize
    let kind: BlockKind
    let across: Int
    let down: Int
    let direct: UnsafePointer<EntropyLookup>
    let alternating: UnsafePointer<EntropyLookup>
    /// `BlockStep.count` of them.
    let steps: UnsafePointer<BlockStep>
    /// `scratchBytes`, aligned to 64.
    let scratch: UnsafeMutableRawPointer
    /// `down` rows of blocks.
    let strip: UnsafeMutablePointer<UInt8>
    let bytesPerRow: Int
    let kernels: cpixels_kernels
    /// The mean of the last block, not multiplied.
    var mean = 0

    /// 64 coefficients and one that is not used, of 4 bytes; or 11 sums of 8 bytes.
    static let scratchBytes = 4 * 65
}

extension PlaneDecoder {
    /// Reads the difference to the last mean and returns the mean of this block, multiplied with its
    /// step: eight times the average of the samples, less 128.
    ///
    /// Sets `damage` when the mean is one that no picture has;
    /// otherwise it is in -2,048..<2,048.
    @inline(__always)
    mutating func readMean(_ reader: inout BitReader, damage: inout Int) -> Int {
        reader.refill()
        let symbol = reader.readDifference(direct)
        mean &+= symbol.value
        let product = mean &* Int(steps[0].quantum)
        damage |= (product &+ 2_048) & ~4_095 | symbol.advance & ~63
        return product
    }
}
