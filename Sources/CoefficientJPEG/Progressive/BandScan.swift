/// A scan of a progressive file that tells some coefficients of one component, or one more bit of them
/// (ITU-T T.81, G.1.2.2 and G.1.2.3).
struct BandScan {
    private let scan: ProgressiveScan
    private let blocks: CoefficientBlocks
    private let table: RunTable
    private let columns: Int
    private let rows: Int

    init(
        _ scan: ProgressiveScan, frame: FrameHeader, blocks: CoefficientBlocks
    ) throws(JPEGRefusal) {
        self.scan = scan
        self.blocks = blocks
        table = try RunTable(scan.tables.alternating(scan.members[0].alternating))
        (columns, rows) = frame.blocks(of: scan.members[0].component)
    }

    func decode(_ source: UnsafeRawBufferPointer) throws(JPEGRefusal) {
        var bytes = ScanBytes(source, from: scan.start)
        var reader = BitReader(bytes.start)
        var restarts = Restarts(interval: scan.tables.restartInterval)
        // Blocks that have nothing new any more.
        var run = 0
        for row in 0..<rows {
            var isDamaged = false
            for block in row * blocks.perRow..<row * blocks.perRow + columns {
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

    /// Reads coefficients for the first time; false when they are not as they should be.
    @inline(__always)
    private func readFirst(_ block: Int, _ reader: inout BitReader, run: inout Int) -> Bool {
        let coefficients = blocks.coefficients + block &* blocks.kept
        let (places, slots, low) = (blocks.places, blocks.slots, scan.low)
        let end = scan.band.upperBound &+ 1
        var found: UInt64 = 0
        var place = scan.band.lowerBound
        while place < end {
            reader.refill()
            let entry = table.next(&reader)
            let advance = Int(truncatingIfNeeded: entry &>> 8 & 255)
            let value = Int(truncatingIfNeeded: Int32(bitPattern: entry) &>> 16)
            guard advance > 0 else {
                guard entry & 255 > 0 else { return false }
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

    /// Reads one more bit of all coefficients that are not 0, and those that have been 0 before; false when they are
    /// not as they should be.
    @inline(__always)
    private func readMore(_ block: Int, _ reader: inout BitReader, run: inout Int) -> Bool {
        let end = scan.band.upperBound
        let before = blocks.nonzero[block]
        var nonzero = before
        /// The places of the band that have not been reached.
        var rest = scan.band.mask
        if run == 0 {
            while rest != 0 {
                reader.refill()
                let entry = table.next(&reader)
                let advance = Int(truncatingIfNeeded: entry &>> 8 & 255)
                let value = Int(truncatingIfNeeded: Int32(bitPattern: entry) &>> 16)
                guard advance > 0 else {
                    guard entry & 255 > 0 else { return false }
                    run = value
                    break
                }
                guard -1...1 ~= value else { return false }
                // As many zeros are passed over, and one more has the value.
                var zeros = ~before & rest
                for _ in 1..<advance { zeros &= zeros &- 1 }
                guard zeros != 0 else { return false }
                let place = zeros.trailingZeroBitCount
                let bit = 1 &<< UInt64(truncatingIfNeeded: place)
                addBits(to: before & rest & (bit &- 1), of: block, &reader)
                rest &= place == end ? 0 : UInt64.max &<< UInt64(truncatingIfNeeded: place &+ 1)
                guard value != 0 else { continue }
                nonzero |= bit
                if blocks.places & bit != 0 {
                    blocks.coefficients[block &* blocks.kept &+ Int(blocks.slots[place])] =
                        Int16(truncatingIfNeeded: value &<< scan.low)
                }
            }
        }
        if run > 0 {
            addBits(to: before & rest, of: block, &reader)
            run -= 1
        }
        blocks.nonzero[block] = nonzero
        return true
    }

    /// Takes a bit for each of some places, and adds it to what is kept of them.
    @inline(__always)
    private func addBits(to places: UInt64, of block: Int, _ reader: inout BitReader) {
        guard places != 0 else { return }
        // More bits than are certainly ready are taken in two parts.
        let lower = places & 0xFFFF_FFFF
        if lower != 0 { addReadyBits(to: lower, of: block, &reader) }
        if places != lower { addReadyBits(to: places &- lower, of: block, &reader) }
    }

    @inline(__always)
    private func addReadyBits(to places: UInt64, of block: Int, _ reader: inout BitReader) {
        reader.refill()
        let count = places.nonzeroBitCount
        var kept = places & blocks.places
        if kept != 0 {
            let bits = reader.peek(count)
            let coefficients = blocks.coefficients + block &* blocks.kept
            repeat {
                let place = kept.trailingZeroBitCount
                let index = (places & (1 &<< UInt64(truncatingIfNeeded: place) &- 1))
                    .nonzeroBitCount
                if bits &>> (count &- 1 &- index) & 1 == 1 {
                    let slot = Int(blocks.slots[place])
                    let step = Int16(truncatingIfNeeded: 1 &<< scan.low)
                    coefficients[slot] &+= coefficients[slot] < 0 ? 0 &- step : step
                }
                kept &= kept &- 1
            } while kept != 0
        }
        reader.skip(count)
    }
}
