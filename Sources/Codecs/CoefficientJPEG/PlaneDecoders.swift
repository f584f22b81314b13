import CCodecs

/// The decoders of all planes of a picture in one scan, and the tables that they look up.
final class PlaneDecoders {
    let memory: PlaneMemory
    private let pointer: UnsafeMutablePointer<PlaneDecoder>
    private let count: Int
    /// The tables that the pointers refer to.
    private let tables: [EntropyTable]

    init(layout: PlaneLayout, header: JPEGHeader, scan: ScanHeader) throws(JPEGRefusal) {
        let cache = EntropyTableCache.shared
        var tables: [EntropyTable] = []
        for component in scan.members {
            tables.append(try cache.table(for: header.tables.direct(component.direct)))
            tables.append(try cache.table(for: header.tables.alternating(component.alternating)))
        }
        var quantisation: [[UInt8]] = []
        for component in header.frame.components {
            quantisation.append(try header.tables.quantisation(component.quantisation))
        }
        memory = PlaneMemory(layout: layout, quantisation: quantisation)
        count = layout.planes.count
        pointer = .allocate(capacity: count)
        for (index, block) in memory.planes.enumerated() {
            (pointer + index).initialize(
                to: PlaneDecoder(
                    block: block, direct: tables[2 * index].lookup,
                    alternating: tables[2 * index + 1].lookup))
        }
        self.tables = tables
    }

    deinit {
        pointer.deinitialize(count: count)
        pointer.deallocate()
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
                switch plane.pointee.block.kind {
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
        let across = plane.pointee.block.across
        let bytesPerRow = plane.pointee.block.bytesPerRow
        var row = plane.pointee.block.strip + unit &* across &* Block.side
        for _ in 0..<plane.pointee.block.down {
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

/// The tables and the state for reading the blocks of one plane.
///
/// The pointers are those of `PlaneDecoders`, which lives longer.
struct PlaneDecoder {
    let block: BlockPlane
    let direct: UnsafePointer<EntropyLookup>
    let alternating: UnsafePointer<EntropyLookup>
    /// The mean of the last block, not multiplied.
    var mean = 0
}

extension PlaneDecoder {
    /// Reads the difference to the last mean and returns the mean of this block, multiplied with its
    /// step: eight times the average of the samples, less 128.
    ///
    /// Sets `damage` when the mean is out of range for any picture;
    /// otherwise it is in -2,048..<2,048.
    @inline(__always)
    mutating func readMean(_ reader: inout BitReader, damage: inout Int) -> Int {
        reader.refill()
        let symbol = reader.readDifference(direct)
        mean &+= symbol.value
        damage |= symbol.advance & ~63
        return block.product(of: mean, damage: &damage)
    }
}
