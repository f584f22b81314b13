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
                    bytesPerRow: bytesPerRow))
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
        unitsPerRow: Int, scan: inout ScanBytes, reader: inout BitReader
    ) throws(JPEGRefusal) {
        // A copy in a local variable can live in registers.
        var bits = reader
        var damage = 0
        for unit in 0..<unitsPerRow {
            try scan.prepare(&bits)
            for index in 0..<count {
                let plane = pointer + index
                switch plane.pointee.kind {
                case .mean: decode(MeanBlock.self, unit, &plane.pointee, &bits, &damage)
                case .averaged2: decode(AveragedBlock.self, unit, &plane.pointee, &bits, &damage)
                case .low2: decode(LowBlock2.self, unit, &plane.pointee, &bits, &damage)
                case .low4: decode(LowBlock4.self, unit, &plane.pointee, &bits, &damage)
                case .full: decode(FullBlock.self, unit, &plane.pointee, &bits, &damage)
                }
            }
            guard damage == 0 else { throw .damaged }
        }
        reader = bits
    }

    /// Decodes the blocks of one unit in one plane. All of them are within the strip, which holds
    /// `unitsPerRow` units.
    @inline(__always)
    private func decode<Block: BlockDecoder>(
        _ block: Block.Type, _ unit: Int, _ plane: inout PlaneDecoder, _ reader: inout BitReader,
        _ damage: inout Int
    ) {
        for row in 0..<plane.down {
            let start = plane.strip + row &* Block.side &* plane.bytesPerRow
            for column in 0..<plane.across {
                let offset = (unit &* plane.across &+ column) &* Block.side
                Block.decode(&reader, &plane, to: start + offset, damage: &damage)
            }
        }
    }
}
