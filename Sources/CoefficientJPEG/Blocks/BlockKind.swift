/// What becomes of a block.
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

    var side: Int {
        switch self {
        case .mean: MeanBlock.side
        case .averaged2: AveragedBlock.side
        case .low2: LowBlock2.side
        case .low4: LowBlock4.side
        case .full: FullBlock.side
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
