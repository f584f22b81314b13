/// A scan of a progressive file that tells some coefficients of one component, or one more bit of them
/// (ITU-T T.81, G.1.2.2 and G.1.2.3).
struct BandScan {
    private let scan: ProgressiveScan
    private let blocks: CoefficientBlocks
    private let table: RunTable
    /// The places of the band, as bits.
    private let mask: UInt64

    init(
        _ scan: ProgressiveScan, blocks: CoefficientBlocks
    ) throws(JPEGRefusal) {
        self.scan = scan
        self.blocks = blocks
        mask = scan.header.band.mask
        table = try RunTable(scan.tables.alternating(scan.header.members[0].alternating))
    }

    func decode(_ source: UnsafeRawBufferPointer) throws(JPEGRefusal) {
        var bytes = ScanBytes(source, from: scan.start)
        var reader = BitReader(bytes.start)
        var restarts = Restarts(interval: scan.tables.restartInterval)
        // Blocks that have nothing new any more.
        var run = 0
        for row in 0..<blocks.rows {
            try JPEGRefusal.checkTime()
            var isDamaged = false
            for block in row * blocks.perRow..<row * blocks.perRow + blocks.columns {
                if let number = restarts.next() {
                    try bytes.restart(&reader, number: number)
                    run = 0
                }
                if scan.isFirst {
                    if run > 0 {
                        run -= 1
                        continue
                    }
                    try bytes.prepare(&reader)
                    if !readFirst(block, &reader, run: &run) { isDamaged = true }
                } else {
                    try bytes.prepare(&reader)
                    if !readMore(block, &reader, run: &run) { isDamaged = true }
                }
            }
            guard !isDamaged else { throw .damaged }
        }
        try bytes.close(&reader)
    }

    /// Reads coefficients for the first time; false when they are malformed.
    @inline(__always)
    private func readFirst(_ block: Int, _ reader: inout BitReader, run: inout Int) -> Bool {
        let coefficients = blocks.coefficients + block &* blocks.kept
        let (places, slots, low) = (blocks.mask, blocks.slots, scan.header.low)
        let end = scan.header.band.upperBound &+ 1
        var found: UInt64 = 0
        var place = scan.header.band.lowerBound
        while place < end {
            reader.refill()
            let entry = table.next(&reader)
            let (advance, value) = (Int(entry.advance), Int(entry.value))
            guard advance > 0 else {
                guard entry.length > 0 else { return false }
                run = value &- 1
                break
            }
            place &+= advance
            guard place <= end else { return false }
            guard value != 0 else { continue }
            let bit = 1 &<< UInt64(truncatingIfNeeded: place &- 1)
            found |= bit
            guard places & bit != 0 else { continue }
            let level = value &<< low
            // No picture of 8 bits has more.
            guard (level &+ 1_024) & ~2_047 == 0 else { return false }
            coefficients[Int(slots[place &- 1])] = Int16(truncatingIfNeeded: level)
        }
        blocks.nonzero[block] |= found
        return true
    }

    /// Reads one more bit of all nonzero coefficients, and coefficients that have been 0 so far;
    /// false when they are malformed.
    @inline(__always)
    private func readMore(_ block: Int, _ reader: inout BitReader, run: inout Int) -> Bool {
        let coefficients = blocks.coefficients + block &* blocks.kept
        let (places, slots, low) = (blocks.mask, blocks.slots, scan.header.low)
        let end = scan.header.band.upperBound
        /// The nonzero coefficients that have not been reached yet.
        var known = blocks.nonzero[block] & mask
        var found: UInt64 = 0
        var start = scan.header.band.lowerBound
        while run == 0, start <= end {
            reader.refill()
            let entry = table.next(&reader)
            let (advance, value) = (Int(entry.advance), Int(entry.value))
            guard advance > 0 else {
                guard entry.length > 0 else { return false }
                run = value
                break
            }
            guard -1...1 ~= value else { return false }
            // So many zeros lead there, and what is known lies between them. 39 bits are left.
            var place = start &+ advance &- 1
            var taken = 0
            while known != 0 {
                let next = known.trailingZeroBitCount
                guard next <= place else { break }
                place &+= 1
                known &= known &- 1
                if places &>> UInt64(truncatingIfNeeded: next) & 1 == 1 {
                    let bit = reader.bits &>> UInt64(truncatingIfNeeded: 63 &- taken) & 1
                    Self.add(bit, low, to: coefficients + Int(slots[next]))
                }
                taken &+= 1
                if taken == 32 {
                    reader.skip(taken)
                    reader.refill()
                    taken = 0
                }
            }
            reader.skip(taken)
            guard place <= end else { return false }
            start = place &+ 1
            guard value != 0 else { continue }
            let bit = 1 &<< UInt64(truncatingIfNeeded: place)
            found |= bit
            if places & bit != 0 {
                coefficients[Int(slots[place])] = Int16(truncatingIfNeeded: value &<< low)
            }
        }
        if run > 0 {
            run &-= 1
            if known != 0 { readRest(known, coefficients, &reader) }
        }
        blocks.nonzero[block] |= found
        return true
    }

    /// Reads a bit for each of some places.
    @inline(__always)
    private func readRest(
        _ known: UInt64, _ coefficients: UnsafeMutablePointer<Int16>, _ reader: inout BitReader
    ) {
        // More bits than are certainly ready are taken in two parts.
        let lower = known & 0xFFFF_FFFF
        readPart(lower, coefficients, &reader)
        if known != lower { readPart(known &- lower, coefficients, &reader) }
    }

    @inline(__always)
    private func readPart(
        _ known: UInt64, _ coefficients: UnsafeMutablePointer<Int16>, _ reader: inout BitReader
    ) {
        reader.refill()
        var kept = known & blocks.mask
        while kept != 0 {
            let place = kept.trailingZeroBitCount
            let before = known & (1 &<< UInt64(truncatingIfNeeded: place) &- 1)
            let shift = 63 &- before.nonzeroBitCount
            Self.add(
                reader.bits &>> UInt64(truncatingIfNeeded: shift) & 1, scan.header.low,
                to: coefficients + Int(blocks.slots[place]))
            kept &= kept &- 1
        }
        reader.skip(known.nonzeroBitCount)
    }

    /// Adds a bit to a coefficient, away from 0.
    @inline(__always)
    private static func add(
        _ bit: UInt64, _ low: Int, to coefficient: UnsafeMutablePointer<Int16>
    ) {
        let step = Int16(truncatingIfNeeded: bit &<< UInt64(truncatingIfNeeded: low))
        coefficient.pointee &+= coefficient.pointee < 0 ? 0 &- step : step
    }
}

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
        let isAlone = scan.header.members.count == 1
        let first = blocks[scan.header.members[0].component]
        (columns, rows) =
            isAlone ? (first.columns, first.rows) : (layout.unitsPerRow, layout.unitRows)
        for member in scan.header.members {
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
                    damage |= Self.decode(
                        &members[index], row, column, low: scan.header.low, &reader)
                }
            }
            guard damage == 0 else { throw .damaged }
        }
        try bytes.close(&reader)
    }

    /// Decodes the blocks of one unit; returns a value other than 0 when they are malformed.
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
                // A mean that does not fit into 16 bits is out of range for any picture.
                damage |= symbol.advance & ~63 | (mean &+ 32_768) & ~65_535
                value.pointee = Int16(truncatingIfNeeded: mean)
            }
        }
        return damage
    }
}
