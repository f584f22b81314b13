/// A scan of a progressive file that tells the means of blocks, or one more bit of them (ITU-T T.81, G.1.2.1).
struct MeanScan {
    private struct Member {
        let blocks: CoefficientBlocks
        /// Blocks in a unit, side by side and one below the other.
        let across: Int
        let down: Int
        /// `nil` where only bits are added.
        let table: EntropyTable?
        var mean = 0
    }

    private let scan: ProgressiveScan
    private let columns: Int
    private let rows: Int
    private var members: [Member] = []

    init(
        _ scan: ProgressiveScan, layout: PlaneLayout, blocks: [CoefficientBlocks]
    ) throws(JPEGRefusal) {
        self.scan = scan
        // A scan of one component has only the blocks that the picture covers, row by row.
        let isAlone = scan.members.count == 1
        let first = blocks[scan.members[0].component]
        (columns, rows) =
            isAlone ? (first.columns, first.rows) : (layout.unitsPerRow, layout.unitRows)
        for member in scan.members {
            let blocks = blocks[member.component]
            members.append(
                Member(
                    blocks: blocks, across: isAlone ? 1 : blocks.plane.across,
                    down: isAlone ? 1 : blocks.plane.down,
                    table: scan.isFirst
                        ? try EntropyTable(scan.tables.direct(member.direct)) : nil))
        }
    }

    func decode(_ source: UnsafeRawBufferPointer) throws(JPEGRefusal) {
        var members = members
        var bytes = ScanBytes(source, from: scan.start)
        var reader = BitReader(bytes.start)
        var restarts = Restarts(interval: scan.tables.restartInterval)
        for row in 0..<rows {
            try JPEGRefusal.checkTime()
            var damage = 0
            for column in 0..<columns {
                if let number = restarts.next() {
                    try bytes.restart(&reader, number: number)
                    for index in members.indices { members[index].mean = 0 }
                }
                try bytes.prepare(&reader)
                for index in members.indices {
                    damage |= Self.decode(&members[index], row, column, low: scan.low, &reader)
                }
            }
            guard damage == 0 else { throw .damaged }
        }
        try bytes.close(&reader)
    }

    /// Decodes the blocks of one unit; returns something else than 0 when they are not as they should be.
    @inline(__always)
    private static func decode(
        _ member: inout Member, _ row: Int, _ column: Int, low: Int, _ reader: inout BitReader
    ) -> Int {
        let (blocks, across) = (member.blocks, member.across)
        var damage = 0
        for line in row &* member.down..<(row &+ 1) &* member.down {
            let first = line &* blocks.perRow &+ column &* across
            for block in first..<first &+ across {
                let value = blocks.coefficients + block &* blocks.kept
                reader.refill()
                guard let table = member.table else {
                    value.pointee |= Int16(truncatingIfNeeded: reader.peek(1) &<< low)
                    reader.skip(1)
                    continue
                }
                let symbol = reader.readDifference(table.lookup)
                member.mean &+= symbol.value
                let mean = member.mean &<< low
                // What does not fit into 16 bits is no mean of any picture.
                damage |= symbol.advance & ~63 | (mean &+ 32_768) & ~65_535
                value.pointee = Int16(truncatingIfNeeded: mean)
            }
        }
        return damage
    }
}
