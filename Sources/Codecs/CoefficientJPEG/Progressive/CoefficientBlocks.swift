/// The coefficients of a component that a reduced picture shows, block by block, while a progressive file is read.
final class CoefficientBlocks {
    /// The parameters for reducing the blocks, and the destination of their samples.
    let plane: BlockPlane
    /// Blocks in a row: those of whole units.
    let perRow: Int
    /// Blocks that the picture covers, in a row and in a column.
    let columns: Int
    let rows: Int
    /// Coefficients that are kept of each block.
    let kept: Int
    /// `kept` of each block, in the order of the zigzag.
    let coefficients: UnsafeMutablePointer<Int16>
    /// For each block a bit for each place whose coefficient is not 0, the mean's excepted; none where only means are
    /// kept.
    let nonzero: UnsafeMutablePointer<UInt64>
    /// The places that are kept, and the same as bits.
    private let places: UnsafeMutableBufferPointer<UInt8>
    let mask: UInt64
    /// The index of each place among the kept ones; 0 for places that are not kept.
    let slots: UnsafeMutablePointer<UInt8>

    /// - Parameter index: Which of the layout's planes it is.
    init(_ plane: BlockPlane, of index: Int, in layout: PlaneLayout) {
        self.plane = plane
        (columns, rows) = (layout.planes[index].columns, layout.planes[index].rows)
        perRow = layout.unitsPerRow * plane.across
        let places = plane.kind.places
        kept = places.count
        let count = perRow * layout.unitRows * plane.down
        coefficients = .allocate(capacity: count * kept)
        coefficients.initialize(repeating: 0, count: count * kept)
        let maskCount = kept > 1 ? count : 0
        nonzero = .allocate(capacity: maskCount)
        nonzero.initialize(repeating: 0, count: maskCount)
        mask = places.reduce(0) { $0 | 1 << UInt64($1) }
        self.places = .allocate(capacity: kept)
        _ = self.places.initialize(from: places.map { UInt8($0) })
        slots = .allocate(capacity: 64)
        slots.initialize(repeating: 0, count: 64)
        for (slot, place) in places.enumerated() { slots[place] = UInt8(slot) }
    }

    deinit {
        coefficients.deallocate()
        nonzero.deallocate()
        places.deallocate()
        slots.deallocate()
    }

    func writeSamples(ofUnits row: Int) throws(JPEGRefusal) {
        let damage =
            switch plane.kind {
            case .mean: write(MeanBlock.self, row)
            case .averaged2: write(AveragedBlock.self, row)
            case .low2: write(LowBlock2.self, row)
            case .low4: write(LowBlock4.self, row)
            case .full: write(FullBlock.self, row)
            }
        guard damage == 0 else { throw .damaged }
    }

    @inline(never)
    private func write<Block: BlockDecoder>(_: Block.Type, _ row: Int) -> Int {
        let (plane, places) = (plane, UnsafeBufferPointer(places))
        var damage = 0
        var block = coefficients + row * plane.down * perRow * kept
        for line in 0..<plane.down {
            var samples = plane.strip + line * Block.side * plane.bytesPerRow
            for _ in 0..<perRow {
                Block.make(of: block, at: places, plane, to: samples, damage: &damage)
                block += kept
                samples += Block.side
            }
        }
        return damage
    }
}
