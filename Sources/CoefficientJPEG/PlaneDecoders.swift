import CPixels

/// The decoders of all planes of a picture and the memory that they work in.
final class PlaneDecoders {
    let pointer: UnsafeMutablePointer<PlaneDecoder>
    let count: Int

    /// What the pointers lead to.
    private let tables: [EntropyTable]
    private let memory: [UnsafeMutableRawPointer]

    init(layout: PlaneLayout, header: JPEGHeader) throws(JPEGRefusal) {
        var tables: [EntropyTable] = []
        var kinds: [(kind: BlockKind, steps: [BlockStep])] = []
        for (index, plane) in layout.planes.enumerated() {
            let cache = EntropyTableCache.shared
            tables.append(try cache.table(for: header.directTable(of: index)))
            tables.append(try cache.table(for: header.alternatingTable(of: index)))
            let kind = BlockKind(side: plane.side, reduction: layout.reduction)
            kinds.append((kind, kind.steps(quantisation: try header.quantisation(of: index))))
        }
        // From here on nothing fails: all memory is freed by `deinit`.
        var memory: [UnsafeMutableRawPointer] = []
        func zeros(_ byteCount: Int) -> UnsafeMutableRawPointer {
            let new = UnsafeMutableRawPointer.allocate(byteCount: byteCount, alignment: 64)
            new.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
            memory.append(new)
            return new
        }
        let kernels = cpixels_best().pointee
        count = layout.planes.count
        pointer = .allocate(capacity: count)
        for (index, plane) in layout.planes.enumerated() {
            let steps = zeros(BlockStep.count * MemoryLayout<BlockStep>.stride)
                .bindMemory(to: BlockStep.self, capacity: BlockStep.count)
            steps.update(from: kinds[index].steps, count: BlockStep.count)
            // Whole units: blocks that stand out to the right and below are written too.
            let bytesPerRow = layout.unitsPerRow * plane.across * plane.side
            let strip = zeros(bytesPerRow * plane.down * plane.side)
            (pointer + index).initialize(
                to: PlaneDecoder(
                    size: plane.size,
                    kind: kinds[index].kind,
                    across: plane.across,
                    down: plane.down,
                    direct: tables[2 * index].lookup,
                    alternating: tables[2 * index + 1].lookup,
                    steps: steps,
                    scratch: zeros(PlaneDecoder.scratchBytes),
                    strip: strip.assumingMemoryBound(to: UInt8.self),
                    bytesPerRow: bytesPerRow,
                    kernels: kernels))
        }
        self.tables = tables
        self.memory = memory
    }

    deinit {
        pointer.deinitialize(count: count)
        pointer.deallocate()
        for pointer in memory { pointer.deallocate() }
    }

    /// Decodes one row of units into the strips of the planes.
    func decodeRow(
        unitsPerRow: Int, scan: inout ScanBytes, reader: inout BitReader,
        restarts: inout Restarts
    ) throws(JPEGRefusal) {
        var damage = 0
        for unit in 0..<unitsPerRow {
            if let number = restarts.next() {
                try scan.restart(&reader, number: number)
                for index in 0..<count { pointer[index].mean = 0 }
            }
            try scan.prepare(&reader)
            for index in 0..<count {
                let plane = pointer + index
                switch plane.pointee.kind {
                case .mean: decode(MeanBlock.self, unit, plane, &reader, &damage)
                case .averaged2: decode(AveragedBlock.self, unit, plane, &reader, &damage)
                case .low2: decode(LowBlock2.self, unit, plane, &reader, &damage)
                case .low4: decode(LowBlock4.self, unit, plane, &reader, &damage)
                case .full: decode(FullBlock.self, unit, plane, &reader, &damage)
                }
            }
            guard damage == 0 else { throw .damaged }
        }
    }

    /// Decodes the blocks of one unit in one plane. All of them are within the strip, which holds
    /// `unitsPerRow` units.
    @inline(never)
    private func decode<Block: BlockDecoder>(
        _ block: Block.Type, _ unit: Int, _ plane: UnsafeMutablePointer<PlaneDecoder>,
        _ reader: inout BitReader, _ damage: inout Int
    ) {
        // Copies in local variables can live in registers.
        var bits = reader
        var flags = 0
        let across = plane.pointee.across
        let bytesPerRow = plane.pointee.bytesPerRow
        var row = plane.pointee.strip + unit &* across &* Block.side
        for _ in 0..<plane.pointee.down {
            var samples = row
            for _ in 0..<across {
                Block.decode(&bits, &plane.pointee, to: samples, damage: &flags)
                samples += Block.side
            }
            row += Block.side &* bytesPerRow
        }
        reader = bits
        damage |= flags
    }
}

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
