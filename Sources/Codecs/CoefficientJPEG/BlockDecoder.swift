/// Decodes blocks and makes fewer samples of each.
protocol BlockDecoder {
    static var side: Int { get }

    /// Reads a block, at most 1,681 bits, and writes `side` rows of `side` samples. Sets `damage`
    /// to a value other than 0 when the block is malformed.
    static func decode(
        _ reader: inout BitReader, _ plane: inout PlaneDecoder,
        to samples: UnsafeMutablePointer<UInt8>, damage: inout Int)

    /// Makes the samples from coefficients that have already been read: those at `places`, which
    /// are the kind's, in their order.
    static func make(
        of coefficients: UnsafePointer<Int16>, at places: UnsafeBufferPointer<UInt8>,
        _ plane: BlockPlane, to samples: UnsafeMutablePointer<UInt8>, damage: inout Int)
}

extension BlockDecoder {
    /// The sample of a value around 0.
    @inline(__always)
    static func sample(_ value: Int) -> UInt8 {
        UInt8(truncatingIfNeeded: min(max(value &+ 128, 0), 255))
    }
}

enum BlockKind {
    case mean
    /// As libjpeg does it at 1/8.
    case averaged2
    case low2
    case low4
    case full

    init(side: Int, reduction: JPEGReduction) {
        switch (side, reduction) {
        case (1, _): self = .mean
        case (2, .eighth): self = .averaged2
        case (2, _): self = .low2
        case (4, _): self = .low4
        default: self = .full
        }
    }

    /// The zigzag places of the coefficients that count, 0 first.
    var places: [Int] {
        switch self {
        case .mean: [0]
        case .low2: [0, 1, 2, 4]
        case .averaged2: places { AveragedBlock.step(row: $0, column: $1).slot < 10 }
        case .low4: places { $0 < 4 && $1 < 4 }
        case .full: Array(0..<64)
        }
    }

    private func places(_ counts: (_ row: Int, _ column: Int) -> Bool) -> [Int] {
        BlockStep.zigzag.indices.filter {
            counts(BlockStep.zigzag[$0] / 8, BlockStep.zigzag[$0] % 8)
        }
    }

    /// One for each place of the zigzag order.
    func steps(quantisation: [UInt8]) -> [BlockStep] {
        zip(BlockStep.zigzag, quantisation).map { position, quantum in
            var made = step(row: position / 8, column: position % 8)
            made.quantum = Int32(quantum)
            made.factor *= Float(quantum)
            return made
        }
    }

    private func step(row: Int, column: Int) -> BlockStep {
        switch self {
        case .mean, .low2: BlockStep()
        case .averaged2: AveragedBlock.step(row: row, column: column)
        case .low4: LowBlock4.step(row: row, column: column)
        case .full: FullBlock.step(row: row, column: column)
        }
    }
}

/// The processing of the coefficient at one place of the zigzag order.
struct BlockStep {
    var quantum: Int32 = 0
    var slot: Int32 = 0
    /// The multiplier of the coefficient: `weight` in averaged blocks, `factor` in `FloatBlock`s.
    var weight: Int32 = 0
    var factor: Float = 0

    static let count = 64

    /// Row and column of each place of the zigzag order: row × 8 + column.
    static let zigzag: [Int] = {
        var order: [Int] = []
        for diagonal in 0..<15 {
            let rows = max(0, diagonal - 7)...min(7, diagonal)
            for row in diagonal % 2 == 0 ? Array(rows.reversed()) : Array(rows) {
                order.append(row * 8 + diagonal - row)
            }
        }
        return order
    }()
}

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

    @inline(__always)
    static func make(
        of coefficients: UnsafePointer<Int16>, at places: UnsafeBufferPointer<UInt8>,
        _ plane: BlockPlane, to samples: UnsafeMutablePointer<UInt8>, damage: inout Int
    ) {
        let mean = plane.product(of: Int(coefficients[0]), damage: &damage)
        samples[0] = sample((mean &+ 4) &>> 3)
    }
}
